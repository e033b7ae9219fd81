//! Names of programs, and the words that reveal what they do.

use crate::phrases::phrases;

/// Whether the blank-separated `list` contains `word`.
pub(super) fn is_in(word: &str, list: &str) -> bool {
    list.split_ascii_whitespace().any(|other| other == word)
}

/// With one of these words, a program only shows what it would do.
pub(super) const TRIALS: [&str; 8] =
    phrases("--help|--version|--dry-run|--dry_run|--check|--diff-only|--no-act|--dry-run=client");

/// Programs that change nothing, and shell builtins.
pub(super) const READERS: &str = "ls ll dir cat bat head tail grep egrep fgrep zgrep rg ag ack wc echo printf pwd which whereis \
    type whoami id date less more file stat du df ps top htop tree diff cmp comm sort uniq cut awk gawk jq yq tr test \
    [ [[ true false : man uname hostname history sleep wait cd pushd popd export set unset source . eval read return \
    exit basename dirname realpath readlink seq md5sum sha1sum sha256sum cksum xxd od hexdump strings nl tac rev fold \
    column ping dig nslookup host ss netstat lsof ip ifconfig free uptime env printenv locale lscpu lsblk journalctl \
    dmesg pytest py.test tox nox jest vitest mocha rspec phpunit ctest mypy pyright flake8 pylint eslint tsc tsgo \
    shellcheck hadolint ldd nm objdump readelf gdb strace ltrace valgrind for case esac fi done select function \
    trap ulimit alias tput clear expr bc let local declare typeset nvidia-smi fd fdfind locate apt-cache \
    man info help get-content select-string get-childitem get-process";

/// Programs that change something whenever they run.
pub(super) const WRITERS: &str = "rm rmdir unlink shred mv cp mkdir touch ln chmod chown chgrp truncate dd mkfs mount umount kill \
    pkill killall shutdown reboot poweroff halt useradd userdel usermod adduser passwd patch rsync scp sftp install \
    gzip gunzip bzip2 xz zip 7z mktemp mkfifo mail sendmail black isort autopep8 rustfmt gofmt createdb dropdb \
    ansible-playbook systemd-run at remove-item new-item set-content add-content copy-item move-item del";

/// Subcommands with which programs for containers and machines change something.
pub(super) const CONTAINERS: [&str; 22] = phrases(
    "run|rm|rmi|build|push|pull|up|down|start|stop|restart|kill|create|prune|tag|load|import|commit|cp|\
    destroy|halt|provision",
);

/// Code that writes files or sends something.
pub(super) const WRITING: [&str; 25] = phrases(
    "'w'|\"w\"|'a'|\"a\"|'wb'|\"wb\"|write_text|write_bytes|writeFile|appendFile|os.remove|os.rename|\
    os.makedirs|os.mkdir|shutil.|unlink|rmSync|mkdirSync|.to_csv(|requests.post|requests.put|requests.delete|\
    requests.patch|.commit()|subprocess.",
);
/// Git subcommands that change something, whatever follows.
pub(super) const GIT_CHANGES: &str = "commit push checkout merge reset add rm mv rebase cherry-pick revert pull clone init switch \
    restore apply am clean bisect gc prune filter-branch update-ref update-index symbolic-ref";
