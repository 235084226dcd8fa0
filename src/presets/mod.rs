//! Presets (`--for`): which failures of tools are transient or permanent. Names and the words of the command go in.
//! Rules, the program that the command runs (`program.rs`), and whether it may run twice (`requests.rs`) come out. Each
//! tool has a line here, and a file in `tools/`, which is parsed when it is needed.

pub(crate) mod clients;
pub(crate) mod listing;
pub(crate) mod names;
pub(crate) mod program;
pub(crate) mod requests;
pub(crate) mod rules;
pub(crate) mod scripts;

use rules::{Row, ToolFile};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Preset {
    /// The name that `--for` takes.
    pub(crate) name: &'static str,
    /// File names of the programs for which `--for auto` picks the preset, separated by spaces.
    programs: &'static str,
    file: &'static str,
}

/// Makes the list of tools: name, and programs for which `--for auto` picks the preset.
macro_rules! tools {
    ($(($name:literal, $programs:literal),)*) => {
        &[$(Preset {
            name: $name,
            programs: $programs,
            file: include_str!(concat!("tools/", $name, ".toml")),
        }),*]
    };
}

#[rustfmt::skip]
static TOOLS: &[Preset] = tools![
    ("ansible-playbook", "ansible-playbook ansible ansible-galaxy ansible-pull"),
    ("apk", "apk"),
    ("apt", "apt apt-get dpkg"),
    ("aws", "aws"),
    ("az", "az"),
    ("borg", "borg"),
    ("brew", "brew"),
    ("bun", "bun bunx"),
    ("bundle", "bundle bundler"),
    ("cargo", "cargo"),
    ("composer", "composer composer.phar"),
    ("conda", "conda mamba micromamba"),
    ("corepack", "corepack"),
    ("cosign", "cosign crane oras regctl ko notation syft grype trivy"),
    ("curl", "curl"),
    ("dnf", "dnf dnf5 yum microdnf"),
    ("docker", "docker podman nerdctl docker-compose podman-compose"),
    ("dotnet", "dotnet nuget"),
    ("ffmpeg", "ffmpeg ffprobe ffplay"),
    ("flatpak", "flatpak"),
    ("flock", "flock"),
    ("ftp", "ftp tnftp"),
    ("gcloud", "gcloud gsutil bq"),
    ("gem", "gem"),
    ("gh", "gh"),
    ("git", "git"),
    ("git-lfs", "git-lfs"),
    ("glab", "glab"),
    ("go", "go"),
    ("gpg", "gpg gpg2 apt-key add-apt-repository gpgv dirmngr"),
    ("gradle", "gradle gradlew"),
    ("helm", "helm"),
    ("hg", "hg chg"),
    ("huggingface-cli", "huggingface-cli hf"),
    ("kubectl", "kubectl oc"),
    ("lftp", "lftp lftpget"),
    ("mongosh", "mongosh mongo mongodump mongorestore mongoexport mongoimport"),
    ("mvn", "mvn mvnw mvnd"),
    ("mysql", "mysql mariadb mysqldump mariadb-dump mysqladmin mariadb-admin mysqlimport mariadb-import"),
    ("netlify", "netlify ntl"),
    ("network", ""),
    ("nix", "nix nix-build nix-shell nix-env nix-channel nix-store nix-prefetch-url nixos-rebuild nix-prefetch-git nix-collect-garbage home-manager darwin-rebuild"),
    ("npm", "npm npx"),
    ("packer", "packer"),
    ("pacman", "pacman yay paru"),
    ("pg_dump", "pg_dump pg_dumpall pg_restore pg_basebackup vacuumdb reindexdb createdb dropdb"),
    ("pg_isready", "pg_isready"),
    ("pip", "pip pip3 pipx pyproject-build"),
    ("playwright", "playwright playwright-core puppeteer cypress"),
    ("pnpm", "pnpm pnpx"),
    ("poetry", "poetry"),
    ("psql", "psql"),
    ("pulumi", "pulumi"),
    ("rclone", "rclone"),
    ("redis-cli", "redis-cli valkey-cli keydb-cli"),
    ("restic", "restic"),
    ("rosdep", "rosdep"),
    ("rsync", "rsync"),
    ("rustup", "rustup rustup-init"),
    ("s3cmd", "s3cmd s4cmd mc minio-client"),
    ("scp", "scp"),
    ("sftp", "sftp"),
    ("skopeo", "skopeo buildah"),
    ("snap", "snap"),
    ("sqlite3", "sqlite3"),
    ("ssh", "ssh"),
    ("stack", "stack cabal ghcup"),
    ("svn", "svn svnsync svnrdump"),
    ("sysexits", "sendmail procmail msmtp maildrop"),
    ("terraform", "terraform tofu terragrunt"),
    ("twine", "twine"),
    ("uv", "uv uvx"),
    ("vercel", "vercel vc"),
    ("wget", "wget wget2"),
    ("wrangler", "wrangler firebase heroku flyctl fly railway"),
    ("yarn", "yarn yarnpkg"),
    ("zypper", "zypper"),
];

/// Returns all presets, sorted by name.
pub(crate) fn all() -> &'static [Preset] {
    TOOLS
}

/// Returns the preset that `--for auto` picks for a program's file name, if any.
pub(crate) fn for_program(file_name: &str) -> Option<Preset> {
    TOOLS
        .iter()
        .copied()
        .find(|preset| preset.is_for(file_name))
}

/// Returns the preset with this name, or else the preset for this program, whose name users know better: `podman` finds
/// the preset `docker`.
fn find(name: &str) -> Option<Preset> {
    let named = TOOLS.iter().copied().find(|preset| preset.name == name);
    named.or_else(|| for_program(name))
}

impl Preset {
    pub(crate) fn programs(&self) -> impl Iterator<Item = &'static str> + Clone + use<> {
        self.programs.split_whitespace()
    }

    /// Returns true if `--for auto` picks the preset for a program with this file name.
    pub(crate) fn is_for(&self, file_name: &str) -> bool {
        self.programs().any(|name| name == file_name)
    }

    fn read(&self) -> ToolFile {
        ToolFile::parse(self.file)
    }

    /// Returns the preset's own rows, those of the included presets, and then what is hopeless for any tool.
    pub(crate) fn rows(&self) -> Vec<Row> {
        let file = self.read();
        let mut rows = file.rows();
        let mut has_hopeless = file.has_hopeless();
        for included in file.include.iter().filter_map(|name| find(name)) {
            let file = included.read();
            rows.extend(file.rows());
            has_hopeless |= file.has_hopeless();
        }
        rows.extend(has_hopeless.then(Row::hopeless));
        rows
    }
}

#[cfg(test)]
mod recorded_tests;
#[cfg(test)]
mod tests;
