/**
 * Makes a clone ready to run: installs the packages of the lock file and builds. For the tests it
 * finds a browser (`--browser`), clients of the field (`--field-clients`) and a Redis (`--redis`);
 * with `--required-in-ci` it fails in CI where one is missing. What is already done is skipped. Plain JavaScript without any package, because it runs before there are packages.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const NODE_LEAST = [20, 19];
const INSTALL_MAX_MS = 600_000;
const BUILD_MAX_MS = 300_000;
const APT_MAX_MS = 240_000;

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const at = (...names) => join(root, ...names);
const sourceFolders = ['bin', 'conformance', 'fixtures', 'server', 'simulator'];
/** Folders whose files, other than sources, are read by the built code at run time. */
const copiedFolders = ['fixtures/page', 'fixtures/vectors', 'fixtures/worlds'];
const configuration = ['package.json', 'package-lock.json', 'tsconfig.json'];
const installStamp = at('node_modules', '.fleetbed-lock');
const buildFolder = at('build');
const buildStamp = join(buildFolder, '.stamp');
const builtCommand = at('dist', 'bin', 'fleetbed.js');
const commandLink = at('node_modules', '.bin', 'fleetbed');
/** Debian's packages of clients of the field, unpacked: nothing on the machine is changed. */
const fieldFolder = at('.fleetbed', 'field-clients');
/** The package of each program. */
const fieldPackages = {
  mender: 'mender-client',
  'mender-connect': 'mender-connect',
  'mender-artifact': 'mender-artifact',
  'dbus-daemon': 'dbus-daemon',
};

const redisFolder = at('.fleetbed', 'redis');
/** The server's program is in the first; the second only starts it as a service. */
const redisPackages = ['redis-tools', 'redis-server'];

/** A failure with a way out; its message is all that is printed. */
class SetupError extends Error {}

function say(text) {
  process.stderr.write(`set-up: ${text}\n`);
}

function sha256(...texts) {
  const hash = createHash('sha256');
  for (const text of texts) hash.update(text).update('\0');
  return hash.digest('hex');
}

function readStamp(path) {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

/** Runs a program with its output on standard error; says what it returned. */
function run(command, args, timeoutMs) {
  const ended = spawnSync(command, args, {
    cwd: root,
    stdio: ['ignore', 2, 2],
    timeout: timeoutMs,
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
  if (ended.status === 0) return { done: true, how: '' };
  if (ended.signal) return { done: false, how: `was ended by ${ended.signal}` };
  return { done: false, how: ended.error?.message ?? `ended with exit code ${ended.status}` };
}

function checkNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const [majorLeast, minorLeast] = NODE_LEAST;
  if (major > majorLeast || (major === majorLeast && minor >= minorLeast)) return;
  throw new SetupError(
    `this is Node ${process.versions.node}; Fleetbed needs ${NODE_LEAST.join('.')} or newer (https://nodejs.org)`,
  );
}

const lockHash = () => sha256(readFileSync(at('package-lock.json')));
const isInstalled = () => readStamp(installStamp) === lockHash();

function install() {
  say('installing the packages of package-lock.json');
  const npm = process.env.npm_execpath;
  const [command, ...first] = npm?.endsWith('.js') ? [process.execPath, npm] : ['npm'];
  const flags = ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'];
  const { done, how } = run(command, [...first, ...flags], INSTALL_MAX_MS);
  if (!done) {
    throw new SetupError(
      `npm could not install the packages (it ${how}); see its lines above, check the network, run it again`,
    );
  }
  mkdirSync(at('node_modules'), { recursive: true });
  writeFileSync(installStamp, lockHash());
}

/** Every file below the folders, as paths from the root, in a fixed order. */
function filesBelow(folders) {
  return folders
    .filter((folder) => existsSync(at(folder)))
    .flatMap((folder) => readdirSync(at(folder), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort();
}

function sourceHash() {
  const files = [...configuration, ...filesBelow(sourceFolders)];
  return sha256(...files.flatMap((file) => [file, readFileSync(at(file))]));
}

const isBuilt = () =>
  existsSync(builtCommand) && existsSync(commandLink) && readStamp(buildStamp) === sourceHash();

async function build() {
  say('building');
  const compiler = at('node_modules', 'typescript', 'bin', 'tsc');
  if (!existsSync(compiler)) {
    throw new SetupError(
      'node_modules holds no TypeScript; delete node_modules and run this again',
    );
  }
  const hash = sourceHash();
  // Without a stamp nobody knows what the folder holds: the compiler would trust its own notes.
  if (existsSync(buildStamp)) rmSync(buildStamp);
  else rmSync(buildFolder, { recursive: true, force: true });
  // A page shares sources with the rest, and so is no reference of its project.
  const { buildPages, pageFolders } = await import('./pages.mjs');
  const pages = pageFolders.filter((folder) => existsSync(at(folder)));
  const projects = [root, ...pages.map((folder) => at(folder))];
  const { done, how } = run(process.execPath, [compiler, '-b', ...projects], BUILD_MAX_MS);
  if (!done) {
    throw new SetupError(`the build failed (the compiler ${how}); its lines above name the places`);
  }
  const assets = filesBelow(copiedFolders).filter((file) => !isSource(file));
  for (const asset of assets) copyAsset(asset);
  removeStale(new Set(assets));
  if (pages.length > 0) await buildPages(root, pages);
  const { bundle } = await import('./bundle.mjs');
  const read = [...copiedFolders, ...pages].map((folder) => join('build', folder));
  await bundle(filesBelow(read).flatMap(readAtRunTime));
  linkCommand();
  writeFileSync(buildStamp, hash);
}

const isSource = (file) => /\.tsx?$|tsconfig\.json$/.test(file);

function copyAsset(file) {
  mkdirSync(dirname(at('build', file)), { recursive: true });
  copyFileSync(at(file), at('build', file));
}

/** Files of the build's asset folders that the bundled code reads: no code of ours, no notes. */
function readAtRunTime(output) {
  const isForPeople = /(\.d\.ts|\.map|tsbuildinfo|\.test\.js|\.py|README\.md)$/.test(output);
  return isForPeople ? [] : [relative('build', output)];
}

/** Removes output whose source is gone; a deleted test would otherwise run for ever. */
function removeStale(assets) {
  for (const output of filesBelow(sourceFolders.map((folder) => join('build', folder)))) {
    const file = relative('build', output);
    const source = file.replace(/(\.js|\.js\.map|\.d\.ts)$/, '.ts');
    const isKept =
      source === file ? assets.has(file) || isCompilerNote(file) : existsSync(at(source));
    if (!isKept) rmSync(at(output));
  }
}

const isCompilerNote = (file) => file.endsWith('tsbuildinfo');

/** Makes `npx fleetbed` find the command of this clone instead of asking a registry for it. */
function linkCommand() {
  if (!existsSync(builtCommand)) throw new SetupError('the build made no dist/bin/fleetbed.js');
  chmodSync(builtCommand, 0o755);
  mkdirSync(dirname(commandLink), { recursive: true });
  rmSync(commandLink, { force: true });
  symlinkSync(relative(dirname(commandLink), builtCommand), commandLink);
}

function findBrowser() {
  const path = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
  if (existsSync(path)) return;
  if (!process.env.CHROMIUM_PATH && installBrowser() && existsSync(path)) return;
  say(
    `no chromium at ${path}: the browser tests are skipped; install it (sudo apt-get install chromium) or name yours with CHROMIUM_PATH=FILE`,
  );
  requireInCi('a browser');
}

function installBrowser() {
  const prefix = process.getuid?.() === 0 ? [] : ['sudo', '-n'];
  const [program, ...rest] = [...prefix, 'apt-get'];
  if (!program || spawnSync(program, [...rest, '--version']).status !== 0) return false;
  say("installing Debian's chromium for the browser test");
  const wanted = ['install', '-y', '--no-install-recommends', 'chromium'];
  const first = run(program, [...rest, ...wanted], APT_MAX_MS);
  if (first.done) return true;
  run(program, [...rest, 'update'], APT_MAX_MS);
  return run(program, [...rest, ...wanted], APT_MAX_MS).done;
}

const missingFieldPrograms = () => missingPrograms(Object.keys(fieldPackages), fieldFolder);

/** Those that are neither unpacked nor among the machine's own. */
function missingPrograms(programs, folder) {
  const folders = [join(folder, 'usr', 'bin'), ...(process.env.PATH ?? '').split(delimiter)];
  return programs.filter((program) => !folders.some((each) => existsSync(join(each, program))));
}

function findFieldClients() {
  const missing = missingFieldPrograms();
  if (missing.length === 0) return;
  unpackPackages(Object.values(fieldPackages), fieldFolder);
  if (missingFieldPrograms().length === 0) return;
  const packages = missing.map((program) => fieldPackages[program]).join(' ');
  say(
    `no ${missing.join(', ')}: the tests of field clients are skipped; Debian 12 has them (${packages}), so check that apt-get reaches its mirror and run this again`,
  );
  requireInCi('the field clients');
}

function hasRedis() {
  const named = process.env.REDIS_SERVER_PATH;
  return named ? existsSync(named) : missingPrograms(['redis-server'], redisFolder).length === 0;
}

function findRedis() {
  if (hasRedis()) return;
  const named = process.env.REDIS_SERVER_PATH;
  if (!named) unpackPackages(redisPackages, redisFolder);
  if (hasRedis()) return;
  say(
    `no ${named || 'redis-server'}: the tests of workers are skipped; install it (sudo apt-get install redis-server) or name yours with REDIS_SERVER_PATH=FILE`,
  );
  requireInCi('a Redis');
}

/** Tests that are skipped unnoticed would prove nothing. */
function requireInCi(what) {
  if (process.env.CI && process.argv.includes('--required-in-ci'))
    throw new SetupError(`CI does not go on without ${what}`);
}

/**
 * Downloads the packages, and those they need that the machine does not have, and unpacks them.
 * They are not installed: that takes rights, and would start and enable services.
 */
function unpackPackages(packages, folder) {
  say(`unpacking Debian's ${packages.join(', ')} for the tests`);
  const work = `${folder}.new`;
  const archives = join(work, 'archives');
  const lists = join(work, 'lists');
  rmSync(work, { recursive: true, force: true });
  for (const folder of [archives, lists]) mkdirSync(join(folder, 'partial'), { recursive: true });
  const unlocked = ['Debug::NoLocking=true', 'APT::Sandbox::User=root'];
  const own = [...unlocked, `Dir::Cache=${work}`, `Dir::Cache::archives=${archives}`];
  const ownLists = [...own, `Dir::State::lists=${lists}`];
  const wanted = ['install', '--yes', '--download-only', '--no-install-recommends', ...packages];
  const done = aptGet(wanted, own) || (aptGet(['update'], ownLists) && aptGet(wanted, ownLists));
  if (done && unpackArchives(archives, join(work, 'root'))) {
    rmSync(folder, { recursive: true, force: true });
    renameSync(join(work, 'root'), folder);
  }
  rmSync(work, { recursive: true, force: true });
}

function aptGet(words, settings) {
  const options = settings.flatMap((setting) => ['-o', setting]);
  return run('apt-get', ['--quiet', '--quiet', ...options, ...words], APT_MAX_MS).done;
}

function unpackArchives(folder, target) {
  const archives = readdirSync(folder).filter((name) => name.endsWith('.deb'));
  return archives.every(
    (name) => run('dpkg-deb', ['--extract', join(folder, name), target], APT_MAX_MS).done,
  );
}

const lockPath = join(tmpdir(), `fleetbed-set-up-${sha256(root).slice(0, 16)}`);

/** Listens on the lock; undefined when another run already does. */
function takeLock() {
  return new Promise((resolve, reject) => {
    const lock = createServer();
    lock.once('error', (fault) => (fault.code === 'EADDRINUSE' ? resolve() : reject(fault)));
    lock.listen(lockPath, () => resolve(lock));
  });
}

/** Waits until the run that holds the lock ends; clears away a lock whose run has died. */
function waitForLock() {
  return new Promise((resolve) => {
    const waiting = connect(lockPath);
    waiting.once('connect', () => say('waiting for another set-up of this clone'));
    waiting.once('error', (fault) => {
      if (fault.code === 'ECONNREFUSED' && existsSync(lockPath)) unlinkSync(lockPath);
    });
    waiting.once('close', resolve);
  });
}

/** Runs `work` alone; the lock is an open socket, so it cannot outlive its process. */
async function alone(work) {
  let lock = await takeLock();
  while (!lock) {
    await waitForLock();
    lock = await takeLock();
  }
  try {
    await work();
  } finally {
    lock.close();
  }
}

async function main() {
  checkNode();
  if (!isInstalled() || !isBuilt()) {
    await alone(async () => {
      if (!isInstalled()) install();
      if (!isBuilt()) await build();
    });
  }
  if (process.argv.includes('--browser')) findBrowser();
  if (process.argv.includes('--field-clients')) await alone(findFieldClients);
  if (process.argv.includes('--redis')) await alone(findRedis);
}

try {
  await main();
  process.exit(0);
} catch (fault) {
  say(fault instanceof SetupError ? fault.message : `failed: ${fault.message}`);
  process.exit(1);
}
