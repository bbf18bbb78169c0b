# Sourced by the examples, from the project's directory.
#
# PROGRAMS names the directory with onionbelld, onionbell and onionbell-chaos; without it what is missing is installed, and they are
# built.

prepare() {
    if [[ -z "${PROGRAMS:-}" ]]; then
        Deploy/tools/dependencies test
        echo "Building. The first time takes a few minutes."
        for product in onionbelld onionbell onionbell-chaos; do swift build --disable-index-store --product "$product"; done
        PROGRAMS=$(swift build --show-bin-path)
    fi
    export PROGRAMS
}

# stage PUSHES SETTINGS COMMAND...: plays the command with the built program between simulated gateways, which are to get
# so many pushes.
stage() {
    local pushes=$1 settings=$2
    shift 2
    "$PROGRAMS/onionbell-chaos" stage --torrc torrc --pushes "$pushes" --settings "$settings" -- "$@"
}
