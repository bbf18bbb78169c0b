/// The script of the status page: every 30 seconds it puts the present page in the place of the shown one, without moving
/// it, unless somebody has something open or marked. Without it the page stays as it was loaded, and has a link.
///
/// It is the same for every page, so that its digest can stand in the page's content security policy and no other script
/// is taken.
enum StatusScript {
    static let text = """
        setInterval(async()=>{if(document.hidden||document.querySelector("details[open]")||String(getSelection()))return;\
        try{const answer=await fetch("/");if(!answer.ok)throw 0;\
        const page=new DOMParser().parseFromString(await answer.text(),"text/html");\
        for(const part of ["header","main","footer","link"])document.querySelector(part).replaceWith(page.querySelector(part));\
        document.title=page.title}catch{document.title="No answer: Onionbell";\
        document.querySelector("h1").textContent="The node does not answer: this page is old"}},30000)
        """
}
