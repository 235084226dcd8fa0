//! Which presets there are, and for which programs.

/// A preset's file.
#[derive(Clone, Copy)]
pub(super) struct File {
    pub(super) name: &'static str,
    /// The file names of the programs that `--for auto` picks it for. They are not in the file: to look for one would touch
    /// all of them.
    pub(super) programs: &'static [&'static str],
    pub(super) text: &'static str,
}

macro_rules! file {
    ($name:literal, $programs:expr) => {
        File {
            name: $name,
            programs: &$programs,
            text: include_str!(concat!($name, ".preset")),
        }
    };
}

/// All of them, sorted by name.
pub(super) const FILES: &[File] = &[
    file!("ansible-playbook", ["ansible-playbook", "ansible"]),
    file!("apk", ["apk"]),
    file!("apt", ["apt", "apt-get", "dpkg"]),
    file!("aws", ["aws"]),
    file!("az", ["az"]),
    file!("borg", ["borg"]),
    file!("brew", ["brew"]),
    file!("bun", ["bun", "bunx"]),
    file!("bundle", ["bundle", "bundler"]),
    file!("cargo", ["cargo"]),
    file!("composer", ["composer", "composer.phar"]),
    file!("conda", ["conda"]),
    file!("curl", ["curl"]),
    file!("dnf", ["dnf", "dnf5", "yum", "microdnf"]),
    file!("docker", ["docker", "podman", "nerdctl"]),
    file!("dotnet", ["dotnet", "nuget"]),
    file!("ffmpeg", ["ffmpeg", "ffprobe", "ffplay"]),
    file!("flatpak", ["flatpak"]),
    file!("flock", ["flock"]),
    file!("ftp", ["ftp", "tnftp"]),
    file!("gcloud", ["gcloud", "gsutil", "bq"]),
    file!("gem", ["gem"]),
    file!("gh", ["gh"]),
    file!("git", ["git"]),
    file!("git-lfs", ["git-lfs"]),
    file!("go", ["go"]),
    file!("gradle", ["gradle", "gradlew"]),
    file!("helm", ["helm"]),
    file!("hg", ["hg", "chg"]),
    file!("kubectl", ["kubectl", "oc"]),
    file!("lftp", ["lftp", "lftpget"]),
    file!(
        "mongosh",
        [
            "mongosh",
            "mongo",
            "mongodump",
            "mongorestore",
            "mongoexport",
            "mongoimport"
        ]
    ),
    file!("mvn", ["mvn", "mvnw", "mvnd"]),
    file!(
        "mysql",
        [
            "mysql",
            "mariadb",
            "mysqldump",
            "mariadb-dump",
            "mysqladmin",
            "mariadb-admin",
            "mysqlimport",
            "mariadb-import"
        ]
    ),
    file!("network", []),
    file!(
        "nix",
        [
            "nix",
            "nix-build",
            "nix-shell",
            "nix-env",
            "nix-channel",
            "nix-store",
            "nix-prefetch-url",
            "nixos-rebuild"
        ]
    ),
    file!("npm", ["npm", "npx"]),
    file!("packer", ["packer"]),
    file!("pacman", ["pacman", "yay", "paru"]),
    file!(
        "pg_dump",
        [
            "pg_dump",
            "pg_dumpall",
            "pg_restore",
            "pg_basebackup",
            "vacuumdb",
            "reindexdb",
            "createdb",
            "dropdb"
        ]
    ),
    file!("pg_isready", ["pg_isready"]),
    file!("pip", ["pip", "pip3", "pipx"]),
    file!("pnpm", ["pnpm", "pnpx"]),
    file!("poetry", ["poetry"]),
    file!("psql", ["psql"]),
    file!("pulumi", ["pulumi"]),
    file!("rclone", ["rclone"]),
    file!("redis-cli", ["redis-cli", "valkey-cli", "keydb-cli"]),
    file!("restic", ["restic"]),
    file!("rsync", ["rsync"]),
    file!("rustup", ["rustup", "rustup-init"]),
    file!("scp", ["scp"]),
    file!("sftp", ["sftp"]),
    file!("skopeo", ["skopeo", "buildah"]),
    file!("snap", ["snap"]),
    file!("sqlite3", ["sqlite3"]),
    file!("ssh", ["ssh"]),
    file!("svn", ["svn", "svnsync", "svnrdump"]),
    file!("sysexits", ["sendmail", "procmail", "msmtp", "maildrop"]),
    file!("terraform", ["terraform", "tofu", "terragrunt"]),
    file!("twine", ["twine"]),
    file!("uv", ["uv", "uvx"]),
    file!("wget", ["wget", "wget2"]),
    file!("yarn", ["yarn", "yarnpkg"]),
    file!("zypper", ["zypper"]),
];
