/// The style of the status page, and of the part that the console shows. It is the same for every page, so that its digest
/// can stand in the page's content security policy and no other style is taken.
enum StatusStyle {
    static let page =
        ":root{color-scheme:light dark;\(paper.light);\(tones.light)}"
        + "@media(prefers-color-scheme:dark){:root{\(paper.dark);\(tones.dark)}}\n\(whole)\(drawing)\(heights)"

    /// The drawing within an element `drawing` of a page that has its own paper.
    static let part =
        ".drawing{\(tones.light)}@media(prefers-color-scheme:dark){.drawing{\(tones.dark)}}\n.drawing{\(drawing)\(heights)}\n"

    /// The rules `.h2` to `.h100`, each for the height of a bar in percent.
    private static let heights = stride(from: 2, through: 100, by: 2).map { ".h\($0){height:\($0)%}" }
        .joined()

    private static let paper = (
        light: "--page:#f4f5f7;--card:#fff;--text:#1c2128;--soft:#59636e;--line:#dfe3e8;--accent:#6d3fb0",
        dark: "--page:#101318;--card:#191e25;--text:#e4e8ee;--soft:#98a3b0;--line:#2b323c;--accent:#b695ee"
    )
    private static let tones = (
        light:
            "--ok:#1a7f4b;--warning:#9a5b00;--failing:#b9281f;--bar:#3f9b74;--late:#c98a1b;--refused:#7d8794",
        dark:
            "--ok:#4cc38a;--warning:#e5a53d;--failing:#ff7a6e;--bar:#43a97d;--late:#d99b34;--refused:#8b95a3"
    )

    /// The rules for what a page of its own has besides the drawing.
    private static let whole = """
        *{box-sizing:border-box}
        body{margin:0;background:var(--page);color:var(--text);\
        font:16px/1.5 system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif}
        main,footer{max-width:72rem;margin:0 auto;padding:0 1rem}
        header{border-top:.5rem solid var(--tone);background:var(--card);border-bottom:1px solid var(--line);\
        margin-bottom:1rem}
        header>div{max-width:72rem;margin:0 auto;padding:1rem 1rem 1.2rem}
        h1{margin:.1rem 0 0;font-size:1.75rem;line-height:1.25;color:var(--tone)}
        .cards{columns:21rem;column-gap:1rem;margin-bottom:1rem}
        .address{display:flex;gap:1rem;align-items:flex-start;flex-wrap:wrap}
        .address>div{flex:1 1 14rem;min-width:0}
        .address p{margin:.5rem 0 0}
        code{font:1rem/1.5 ui-monospace,"DejaVu Sans Mono",monospace;overflow-wrap:anywhere;user-select:all}
        .qr{width:9.5rem;height:9.5rem;border-radius:.3rem;background:#fff;fill:#000;flex:none}
        details{margin-top:.5rem}summary{color:var(--soft);font-size:.875rem;cursor:pointer}
        pre{display:inline-block;margin:.5rem 0 0;padding:.25rem;background:#fff;color:#000;\
        font:10px/10px "DejaVu Sans Mono",monospace;overflow:auto;max-width:100%}
        footer{padding:0 1rem 2rem;color:var(--soft);font-size:.875rem}
        a{color:var(--accent)}

        """

    private static let drawing = """
        .ok{--tone:var(--ok)}.warning{--tone:var(--warning)}.failing{--tone:var(--failing)}
        .words p{margin:.2rem 0 0;color:var(--soft)}
        .words .verdict{color:var(--tone)}
        .words ul{margin:.7rem 0 0;padding:0;list-style:none}
        .words li{margin:.35rem 0 0;padding:.1rem 0 .1rem .7rem;border-left:.25rem solid var(--tone);\
        overflow-wrap:anywhere}
        h2{margin:0 0 .6rem;font-size:1rem;font-weight:600}
        section{background:var(--card);border:1px solid var(--line);border-radius:.6rem;padding:1rem;\
        margin-bottom:1rem;break-inside:avoid;min-width:0}
        .tiles{display:grid;gap:.75rem 1rem;grid-template-columns:repeat(2,minmax(0,1fr))}
        .tiles div{min-width:0}
        @media(min-width:50rem){.tiles{grid-template-columns:repeat(auto-fit,minmax(7rem,1fr))}\
        .tiles.four{grid-template-columns:repeat(4,minmax(0,1fr))}}
        .tiles b{display:block;white-space:nowrap;font-size:1.5rem;line-height:1.3;font-weight:600;font-variant-numeric:tabular-nums}
        .tiles span,.soft{color:var(--soft);font-size:.875rem}
        .note{margin:.6rem 0 0}
        table{width:100%;border-collapse:collapse;font-variant-numeric:tabular-nums}
        th,td{padding:.3rem 0 .3rem .75rem;text-align:right;border-top:1px solid var(--line);font-weight:400;\
        overflow-wrap:break-word}
        th:first-child,td:first-child{padding-left:0;text-align:left}
        thead th{border-top:0;color:var(--soft);font-size:.875rem}
        td:not(:first-child){white-space:nowrap}
        td b{overflow-wrap:anywhere}td p{margin:.1rem 0 .3rem}
        @media(max-width:36rem){.nodes :is(th,td):nth-child(n+5){display:none}}
        dl{display:grid;grid-template-columns:minmax(0,auto) minmax(0,1fr);gap:.3rem 1rem;margin:0}
        dt{color:var(--soft)}dt,dd{overflow-wrap:break-word}dd{margin:0;text-align:right;font-variant-numeric:tabular-nums}
        .lane{padding:.6rem 0;border-top:1px solid var(--line)}
        .lane:first-of-type{border-top:0;padding-top:0}.lane:last-child{padding-bottom:0}
        .lane p{margin:0;overflow-wrap:anywhere}
        .pill{display:inline-block;padding:0 .5rem;border:1px solid var(--tone);border-radius:1rem;\
        color:var(--tone);font-size:.8125rem;line-height:1.4rem;vertical-align:.05em}
        .facts{display:flex;flex-wrap:wrap;gap:0 1rem;color:var(--soft);font-size:.875rem}
        .checks li{display:flex;flex-wrap:wrap;gap:.2rem .75rem;padding:.35rem 0;border-top:1px solid var(--line)}
        .checks li:first-child{border-top:0}.checks{margin:0;padding:0;list-style:none}
        .checks .pill{flex:none;align-self:flex-start;min-width:4.5rem;text-align:center}
        .checks span:last-child{flex:1 1 8rem;min-width:0;overflow-wrap:anywhere}
        figure{margin:0}figure+figure{margin-top:1.2rem}
        figcaption{font-size:.875rem;color:var(--soft)}
        .plot{display:grid;grid-template-columns:auto minmax(0,1fr);gap:.2rem .5rem;margin:.3rem 0}
        .y{display:flex;flex-direction:column;justify-content:space-between;text-align:right;color:var(--soft);\
        font-size:.75rem;line-height:1;white-space:nowrap;min-width:2.5rem;font-variant-numeric:tabular-nums}
        .bars{display:flex;align-items:flex-end;height:6.5rem;border-bottom:1px solid var(--line);\
        background:linear-gradient(var(--line) 1px,transparent 1px) 0 0/100% 50%}
        .bars i{flex:1 1 0;min-width:0;height:100%;display:flex;flex-direction:column-reverse;padding:0 .5px}
        .bars i:hover{background:var(--line)}
        .bars b{flex:0 1 auto}
        .plot .axis{grid-column:2}
        .axis{display:flex;justify-content:space-between;gap:.5rem;color:var(--soft);font-size:.8125rem}
        .strip{display:flex;height:1.6rem;gap:1px;margin:1rem 0 .2rem;border-radius:.3rem;overflow:hidden}
        .strip i{flex:1 1 0;min-width:0;background:var(--line)}
        .strip .ok,.strip .warning,.strip .failing{background:var(--tone)}
        .delivered{background:var(--bar)}.refused{background:var(--refused)}.expired{background:var(--late)}
        .gauge{background:var(--accent)}
        .unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
        .checks time{flex:none;min-width:3rem;color:var(--soft);font-variant-numeric:tabular-nums}
        .key::before{content:"";display:inline-block;width:.7rem;height:.7rem;margin-right:.35rem;border-radius:.15rem;\
        background:var(--tint)}
        .key{margin-right:.9rem;white-space:nowrap}
        .t1{--tint:var(--bar)}.t2{--tint:var(--refused)}.t3{--tint:var(--late)}

        """
}
