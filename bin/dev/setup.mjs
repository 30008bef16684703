/**
 * Sets a clone up: installs the packages of the lock file and builds. `--types` also checks the
 * types. For tests, it provides a browser (`--browser`), the Debian clients (`--field-clients`), a
 * Redis (`--redis`) and libcurl's headers (`--libcurl`); `--required-in-ci` makes it fail in CI when one of them is missing. Finished
 * steps are skipped. It is plain JavaScript without dependencies, because it runs before packages
 * are installed.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
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
import { build, checkTypes, inputsOf } from './build.mjs';

const NODE_MIN = [20, 19];
const APT_MAX_MS = 240_000;
/** Interval of progress lines during a long step. */
const PROGRESS_MS = 15_000;

const root = fileURLToPath(new URL('../..', import.meta.url));
const at = (...names) => join(root, ...names);
const configuration = ['package.json', 'package-lock.json', 'tsconfig.json'];
const installStamp = at('node_modules', '.fleetbed-lock');
const buildStamp = at('build', '.stamp');
const typesStamp = at('build', 'types', '.stamp');
const builtCommand = at('dist', 'bin', 'fleetbed.js');
/** A declaration file that the type check writes to `dist/`. */
const declarations = at(JSON.parse(readFileSync(at('package.json'), 'utf8')).exports['.'].types);
const commandLink = at('node_modules', '.bin', 'fleetbed');
/**
 * Folder of the unpacked Debian packages with device clients; nothing is installed on the machine.
 */
const fieldFolder = at('.fleetbed', 'field-clients');
/** The Debian package of each program. */
const fieldPackages = {
  mender: 'mender-client',
  'mender-connect': 'mender-connect',
  'mender-artifact': 'mender-artifact',
  'dbus-daemon': 'dbus-daemon',
};

const redisFolder = at('.fleetbed', 'redis');
/**
 * `redis-tools` contains the program `redis-server`; the package `redis-server` only installs it as
 * a service.
 */
const redisPackages = ['redis-tools', 'redis-server'];

const curlFolder = at('.fleetbed', 'libcurl');
const curlPackages = ['libcurl4-openssl-dev', 'libssl-dev', 'zlib1g-dev'];

/** A failure with a remedy; only its message is printed. */
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

/**
 * Runs a program with its output on standard error, and prints a progress line about `activity`
 * periodically. Resolves with `done` and `how` the program ended. There is no time limit without
 * `timeoutMs`.
 */
function run(program, words, { activity, timeoutMs } = {}) {
  const startedMs = performance.now();
  const child = spawn(program, words, {
    cwd: root,
    stdio: ['ignore', 2, 2],
    timeout: timeoutMs,
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
  const seconds = () => Math.round((performance.now() - startedMs) / 1000);
  const progress = setInterval(
    () => activity && say(`still ${activity}, ${seconds()} s`),
    PROGRESS_MS,
  );
  return new Promise((resolve) => {
    child.once('error', ({ message }) => resolve({ done: false, how: message }));
    child.once('close', (code, signal) => {
      if (code === 0) resolve({ done: true, how: '' });
      resolve({
        done: false,
        how: signal ? `was ended by ${signal}` : `ended with exit code ${code}`,
      });
    });
  }).finally(() => clearInterval(progress));
}

function checkNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const [majorMin, minorMin] = NODE_MIN;
  if (major > majorMin || (major === majorMin && minor >= minorMin)) return;
  throw new SetupError(
    `this is Node ${process.versions.node}; Fleetbed needs ${NODE_MIN.join('.')} or newer (https://nodejs.org)`,
  );
}

const lockHash = () => sha256(readFileSync(at('package-lock.json')));
const isInstalled = () => readStamp(installStamp) === lockHash();

async function install() {
  const activity = 'installing the packages of package-lock.json';
  say(activity);
  const npm = process.env.npm_execpath;
  const [command, ...first] = npm?.endsWith('.js') ? [process.execPath, npm] : ['npm'];
  const flags = ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'];
  const { done, how } = await run(command, [...first, ...flags], { activity });
  if (!done) {
    throw new SetupError(
      `npm could not install the packages (it ${how}); see its output above, check the network, and run this again`,
    );
  }
  mkdirSync(at('node_modules'), { recursive: true });
  writeFileSync(installStamp, lockHash());
}

function hashOf(selection) {
  const files = [...configuration, ...inputsOf(root, selection)];
  return sha256(...files.flatMap((file) => [file, readFileSync(at(file))]));
}

const isBuilt = () =>
  existsSync(builtCommand) &&
  existsSync(commandLink) &&
  readStamp(buildStamp) === hashOf({ tests: false });

async function makeBuild() {
  const hash = hashOf({ tests: false });
  rmSync(buildStamp, { force: true });
  try {
    await build(root, say);
  } catch (error) {
    throw new SetupError(`the build failed: ${error.message}`);
  }
  linkCommand();
  writeFileSync(buildStamp, hash);
}

/** Checks both files, because a new build removes the declarations. */
const areTypesChecked = () =>
  existsSync(declarations) && readStamp(typesStamp) === hashOf({ tests: true });

async function makeTypes() {
  const activity = 'checking the types';
  say(activity);
  const hash = hashOf({ tests: true });
  const { done, how } = await checkTypes(root, (program, words) =>
    run(program, words, { activity }),
  );
  if (!done) {
    throw new SetupError(
      `the types are wrong (the compiler ${how}); its output above names the places`,
    );
  }
  writeFileSync(typesStamp, hash);
}

/** Makes `npx fleetbed` find the command of this clone instead of asking a registry for it. */
function linkCommand() {
  mkdirSync(dirname(commandLink), { recursive: true });
  rmSync(commandLink, { force: true });
  symlinkSync(relative(dirname(commandLink), builtCommand), commandLink);
}

async function findBrowser() {
  const path = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
  if (existsSync(path)) return;
  if (!process.env.CHROMIUM_PATH && (await installBrowser()) && existsSync(path)) return;
  say(
    `no chromium at ${path}: the browser tests are skipped; install it (sudo apt-get install chromium), or set CHROMIUM_PATH to yours`,
  );
  requireInCi('a browser');
}

async function installBrowser() {
  const prefix = process.getuid?.() === 0 ? [] : ['sudo', '-n'];
  const [program, ...rest] = [...prefix, 'apt-get'];
  if (!program || spawnSync(program, [...rest, '--version']).status !== 0) return false;
  say("installing Debian's chromium for the browser test");
  const wanted = ['install', '-y', '--no-install-recommends', 'chromium'];
  const apt = async (words) =>
    (await run(program, [...rest, ...words], { timeoutMs: APT_MAX_MS })).done;
  if (await apt(wanted)) return true;
  await apt(['update']);
  return apt(wanted);
}

const missingFieldPrograms = () => missingPrograms(Object.keys(fieldPackages), fieldFolder);

/** Returns the programs that are neither unpacked nor installed on the machine. */
function missingPrograms(programs, folder) {
  const folders = [join(folder, 'usr', 'bin'), ...(process.env.PATH ?? '').split(delimiter)];
  return programs.filter((program) => !folders.some((each) => existsSync(join(each, program))));
}

async function findFieldClients() {
  const missing = missingFieldPrograms();
  if (missing.length === 0) return;
  await unpackPackages(Object.values(fieldPackages), fieldFolder);
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

async function findRedis() {
  if (hasRedis()) return;
  const named = process.env.REDIS_SERVER_PATH;
  if (!named) await unpackPackages(redisPackages, redisFolder);
  if (hasRedis()) return;
  say(
    `no ${named || 'redis-server'}: the tests of workers are skipped; install it (sudo apt-get install redis-server), or set REDIS_SERVER_PATH to yours`,
  );
  requireInCi('a Redis');
}

function hasLibcurl() {
  return ['/usr/include', join(curlFolder, 'usr', 'include')]
    .flatMap((folder) => [
      folder,
      ...['x86_64', 'aarch64'].map((cpu) => `${folder}/${cpu}-linux-gnu`),
    ])
    .some((folder) => existsSync(join(folder, 'curl', 'curl.h')));
}

async function findLibcurl() {
  if (hasLibcurl()) return;
  await unpackPackages(curlPackages, curlFolder);
  if (hasLibcurl()) return;
  say(
    `no curl/curl.h: the test of the example client in C is skipped; install it (sudo apt-get install ${curlPackages.join(' ')})`,
  );
  requireInCi('the development files of libcurl');
}

/** Fails in CI, where tests that are skipped unnoticed would prove nothing. */
function requireInCi(requirement) {
  if (process.env.CI && process.argv.includes('--required-in-ci'))
    throw new SetupError(`CI requires ${requirement}`);
}

/**
 * Downloads the packages and their missing dependencies, and unpacks them. Installing them would
 * need privileges, and would start services.
 */
async function unpackPackages(packages, folder) {
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
  const done =
    (await aptGet(wanted, own)) ||
    ((await aptGet(['update'], ownLists)) && (await aptGet(wanted, ownLists)));
  if (done && (await unpackArchives(archives, join(work, 'root')))) {
    rmSync(folder, { recursive: true, force: true });
    renameSync(join(work, 'root'), folder);
  }
  rmSync(work, { recursive: true, force: true });
}

async function aptGet(words, settings) {
  const options = settings.flatMap((setting) => ['-o', setting]);
  const all = ['--quiet', '--quiet', ...options, ...words];
  return (await run('apt-get', all, { timeoutMs: APT_MAX_MS })).done;
}

async function unpackArchives(folder, target) {
  for (const name of readdirSync(folder).filter((each) => each.endsWith('.deb'))) {
    const words = ['--extract', join(folder, name), target];
    if (!(await run('dpkg-deb', words, { timeoutMs: APT_MAX_MS })).done) return false;
  }
  return true;
}

const lockPath = join(tmpdir(), `fleetbed-set-up-${sha256(root).slice(0, 16)}`);

/** Listens on the lock; undefined when another run already does. */
function takeLock() {
  return new Promise((resolve, reject) => {
    const lock = createServer();
    lock.once('error', (error) => (error.code === 'EADDRINUSE' ? resolve() : reject(error)));
    lock.listen(lockPath, () => resolve(lock));
  });
}

/** Waits until the run that holds the lock ends; removes the lock of a run that died. */
function waitForLock() {
  return new Promise((resolve) => {
    const waiting = connect(lockPath);
    waiting.once('connect', () => say('waiting for another set-up of this clone'));
    waiting.once('error', (error) => {
      if (error.code === 'ECONNREFUSED' && existsSync(lockPath)) unlinkSync(lockPath);
    });
    waiting.once('close', resolve);
  });
}

/**
 * Runs `work` while no other set-up of this clone runs. The lock is an open socket, so it cannot
 * outlive its process.
 */
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
  const has = (option) => process.argv.includes(option);
  if (!isInstalled() || !isBuilt()) {
    await alone(async () => {
      if (!isInstalled()) await install();
      if (!isBuilt()) await makeBuild();
    });
  }
  if (has('--types') && !areTypesChecked()) await alone(makeTypes);
  if (has('--browser')) await alone(findBrowser);
  if (has('--field-clients')) await alone(findFieldClients);
  if (has('--redis')) await alone(findRedis);
  if (has('--libcurl')) await alone(findLibcurl);
}

try {
  await main();
  process.exit(0);
} catch (error) {
  say(error instanceof SetupError ? error.message : `failed: ${error.message}`);
  process.exit(1);
}
