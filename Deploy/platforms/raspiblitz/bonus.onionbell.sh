#!/usr/bin/env bash
# Not run here: a RaspiBlitz, and no arm64 machine. It only calls Debian's own tools and onionbell. Made by Deploy/platforms/render.
#
#   bonus.onionbell.sh on PACKAGE.deb | off | status
set -euo pipefail

case "${1:-}" in
    on)
        package=${2:?bonus.onionbell.sh on PACKAGE.deb}
        sudo apt-get install -y -- "$package"
        [[ -s /var/lib/onionbell/onion-address ]] || sudo onionbell init --bisq --force
        sudo systemctl enable --now onionbell
        ;;
    off) sudo systemctl disable --now onionbell && sudo apt-get remove -y onionbell ;;
    status) systemctl is-active --quiet onionbell && echo "onionbell=on" || echo "onionbell=off" ;;
    *)
        sed -n '/^#   /s/^# *//p' "${BASH_SOURCE[0]}" >&2
        exit 64
        ;;
esac
