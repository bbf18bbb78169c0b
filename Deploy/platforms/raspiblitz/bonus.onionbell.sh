#!/usr/bin/env bash
# Not run here: a RaspiBlitz, and no arm64 machine. on, status and off were tried in a Debian 13 root with systemd. Made by Deploy/platforms/render.
#
# As the published template of bonus scripts has it: what has to survive a new SD card is in /mnt/hdd/app-data.
#
#   bonus.onionbell.sh on PACKAGE.deb | off [delete-data] | status
set -euo pipefail

data=/mnt/hdd/app-data/onionbell
unit=/etc/systemd/system/var-lib-onionbell.mount
mark() {
    local script=/home/admin/config.scripts/blitz.conf.sh
    if [[ -x "$script" ]]; then "$script" set onionbell "$1"; fi
}

case "${1:-}" in
    1 | on)
        package=${2:?bonus.onionbell.sh on PACKAGE.deb}
        sudo apt-get install -y -- "$package"
        sudo install -d -m 0700 -o onionbell -g onionbell "$data" /var/lib/onionbell
        printf '[Mount]\nWhat=%s\nWhere=/var/lib/onionbell\nOptions=bind\n[Install]\nRequiredBy=onionbell.service\n' "$data" |
            sudo tee "$unit" >/dev/null
        sudo systemctl daemon-reload
        sudo systemctl enable --now "${unit##*/}"
        sudo onionbell init --bisq --force
        sudo systemctl enable --now onionbell
        mark on
        ;;
    0 | off)
        sudo systemctl disable --now onionbell "${unit##*/}"
        sudo rm -f -- "$unit"
        sudo apt-get remove -y onionbell
        if [[ "${2:-}" == delete-data ]]; then sudo rm -rf -- "$data"; fi
        mark off
        ;;
    status)
        echo "appID='onionbell'"
        echo "isInstalled=$([[ -x /usr/bin/onionbell ]] && echo 1 || echo 0)"
        echo "isRunning=$(systemctl is-active --quiet onionbell && echo 1 || echo 0)"
        ;;
    *)
        sed -n '/^#   /s/^# *//p' "${BASH_SOURCE[0]}" >&2
        exit 64
        ;;
esac
