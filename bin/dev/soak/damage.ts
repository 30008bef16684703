/**
 * Applies every kind of damage to every file of a data folder, of a closed server and of a killed
 * one. For each damage, the server must either refuse the folder with one sentence that names the
 * file and leave it unchanged, or accept it without any loss of data; an export must report the
 * damage.
 */
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Random } from '../../../fixtures/base/random.ts';
import type { Output } from '../../output/output.ts';
import type { ServerReady } from '../../server-access/ready.ts';
import {
  authenticate,
  call,
  callControl,
  downloadStatus,
  runFleetbed,
  ServedFolder,
  upload,
} from './served-folder.ts';

/** Options of a damage run. */
interface DamageOptions {
  readonly output: Output;
  readonly random: Random;
  /** Number of cases to try, chosen at random; all cases when absent. */
  readonly cases?: number;
}

type DamageFile = (path: string, random: Random) => void;

const damages: Readonly<Record<string, DamageFile>> = {
  missing: (path) => rmSync(path, { recursive: true }),
  empty: (path) => {
    if (!statSync(path).isDirectory()) truncateSync(path);
    else for (const name of readdirSync(path)) rmSync(join(path, name), { recursive: true });
  },
  truncated: (path) => truncateSync(path, Math.floor(statSync(path).size / 2)),
  'changed byte': (path, random) => {
    const bytes = readFileSync(path);
    const at = random.integer(0, bytes.length - 1);
    bytes[at] = (bytes[at] ?? 0) ^ random.integer(1, 255);
    writeFileSync(path, bytes);
  },
  'another version': (path) => {
    const bytes = readFileSync(path);
    bytes.writeUInt32BE(99, 60);
    writeFileSync(path, bytes);
  },
};

/**
 * The data that was written to the folder; after damage the server must still have it, or refuse
 * the folder.
 */
interface WrittenData {
  readonly devices: readonly string[];
  readonly artifacts: readonly string[];
  readonly tenants: readonly string[];
}

interface FolderState {
  readonly name: string;
  readonly folder: string;
  readonly written: WrittenData;
}

interface Case {
  readonly state: FolderState;
  /** Path of the damaged file within the data folder. */
  readonly file: string;
  readonly damage: string;
}

/** Runs the cases; returns a sentence for each that failed. */
export async function damageSoak({ output, random, cases }: DamageOptions): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'fleetbed-soak-'));
  try {
    const states = await statesIn(folder);
    const all = states.flatMap(casesOf);
    const drawnCases = cases === undefined ? all : drawnFrom(all, cases, random);
    const problems: string[] = [];
    const table = new Map<string, number>();
    for (const [at, one] of drawnCases.entries()) {
      const trial = await tryCase(one, join(folder, 'tried'), random);
      problems.push(...trial.problems);
      const row = `${kindOf(one.file)}, ${one.damage}: ${trial.outcome}`;
      table.set(row, (table.get(row) ?? 0) + 1);
      if ((at + 1) % 20 === 0) output.progress(`${at + 1} of ${drawnCases.length} damages`);
    }
    output.line(`damaged files: ${drawnCases.length}, problems: ${problems.length}`);
    for (const [row, count] of [...table].toSorted()) output.line(`  ${row}: ${count}`);
    return problems;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Creates the data folder of a closed server, and that of a killed one. */
async function statesIn(folder: string): Promise<FolderState[]> {
  const data = join(folder, 'data');
  const first = new ServedFolder(data);
  const firstWrites = await writeSome(await readyOf(first), 'closed');
  await first.end();
  const closedFolder = join(folder, 'closed');
  cpSync(data, closedFolder, { recursive: true });
  const second = new ServedFolder(data);
  const secondWrites = await writeSome(await readyOf(second), 'killed');
  await second.end('SIGKILL');
  const writes = {
    devices: [...firstWrites.devices, ...secondWrites.devices],
    artifacts: [...firstWrites.artifacts, ...secondWrites.artifacts],
    tenants: [...firstWrites.tenants, ...secondWrites.tenants],
  };
  return [
    { name: 'closed', folder: closedFolder, written: firstWrites },
    { name: 'killed', folder: data, written: writes },
  ];
}

async function readyOf(served: ServedFolder): Promise<ServerReady> {
  const ready = await served.ready;
  if (!ready) throw new Error(`no server for the soak: ${(await served.ended).stderr}`);
  return ready;
}

async function writeSome(server: ServerReady, name: string): Promise<WrittenData> {
  const device = await authenticate(server, name);
  const json = [{ name: 'color', value: name }];
  await call(server, 'put-attributes', { token: device.token, json });
  const { location } = await upload(server, `release-${name}`);
  const tenant = { name, adminEmail: `${name}@example.com` };
  const response = await callControl(server, { method: 'POST', path: '/tenants', json: tenant });
  const { id } = JSON.parse(response.text) as { id: string };
  return { devices: [device.id], artifacts: [location], tenants: [id] };
}

/** Returns every file and folder with every damage that applies to it. */
function casesOf(state: FolderState): Case[] {
  const files = readdirSync(state.folder, { recursive: true }).map(String);
  return files.flatMap((file) =>
    Object.keys(damages)
      .filter((damage) => isPossible(join(state.folder, file), damage))
      .map((damage) => ({ state, file, damage })),
  );
}

function isPossible(path: string, damage: string): boolean {
  if (damage === 'missing') return true;
  const stats = statSync(path);
  if (damage === 'empty') return stats.isDirectory() || stats.size > 0;
  if (damage === 'another version') return path.endsWith('.sqlite');
  return stats.isFile() && stats.size > 0;
}

function drawnFrom(all: readonly Case[], count: number, random: Random): Case[] {
  const offsets = new Set<number>();
  while (offsets.size < Math.min(count, all.length)) offsets.add(random.integer(0, all.length - 1));
  return all.filter((_, at) => offsets.has(at));
}

/** Returns the kind of a file, without names that differ between runs. */
function kindOf(file: string): string {
  return file.replace(/[0-9a-f]{64}/, 'FILE').replace(/[0-9a-f]{8}-[0-9a-f-]{27}/, 'ID');
}

async function tryCase({ state, file, damage }: Case, folder: string, random: Random) {
  rmSync(folder, { recursive: true, force: true });
  cpSync(state.folder, folder, { recursive: true });
  const path = join(folder, file);
  damages[damage]?.(path, random);
  const problems: string[] = [];
  const report = (message: string): void =>
    void problems.push(`${state.name}, ${kindOf(file)} ${damage}: ${message}`);
  const digestBefore = digestOf(folder);
  const exportRun = await exportOf(folder);
  if (digestOf(folder) !== digestBefore) report('the export has changed the folder');
  const server = new ServedFolder(folder);
  const ready = await server.ready;
  let outcome = 'refused';
  if (ready) {
    const dataState = await keptOf(ready, state.written);
    await server.end();
    outcome = dataState;
    if (dataState === 'lost') report('the server accepted it, and data is missing');
    if (dataState === 'not served' && exportRun.code !== 1)
      report(`exported with ${exportRun.code}`);
  } else {
    const { code, stderr } = await server.ended;
    if (code !== 3) report(`exit code ${code}`);
    if (!/^fleetbed: [^\n]+\n$/.test(stderr)) report(`not one sentence: ${stderr}`);
    if (!namesFile(stderr, path)) report(`the file is not named: ${stderr}`);
    if (digestOf(folder) !== digestBefore) report('the refused start has changed the folder');
    if (exportRun.code === 0) report('the export reports no damage');
    if (!namesFile(exportRun.stderr, path))
      report(`the export does not name it: ${exportRun.stderr}`);
  }
  return { outcome, problems };
}

/**
 * Returns true when the message names the file. For an emptied folder, the name of a file that was
 * in it is sufficient.
 */
function namesFile(message: string, path: string): boolean {
  return message.includes(path);
}

async function exportOf(folder: string) {
  const out = `${folder}.sqlite`;
  const exportRun = await runFleetbed(['state', 'export', '--data', folder, '--out', out]);
  if (existsSync(out)) rmSync(out);
  return exportRun;
}

/**
 * Returns true when the server still has all written data. A file that has changed must not be
 * served.
 */
async function keptOf(server: ServerReady, written: WrittenData) {
  const tenants = await callControl(server, { method: 'GET', path: '/tenants' });
  if (!written.tenants.every((id) => tenants.text.includes(id))) return 'lost';
  for (const id of written.devices) {
    const { status, text } = await call(server, 'get-inventory', { parameters: { id } });
    if (status !== 200 || !text.includes('color')) return 'lost';
  }
  const statuses = [];
  for (const id of written.artifacts) statuses.push(await downloadStatus(server, id));
  if (statuses.every((status) => status === 200)) return 'nothing lost';
  return statuses.every((status) => status === 200 || status === 500) ? 'not served' : 'lost';
}

/** Returns a digest of every file and folder, except the lock, which has no content. */
function digestOf(folder: string): string {
  const hash = createHash('sha256');
  for (const name of readdirSync(folder, { recursive: true }).map(String).toSorted()) {
    if (name === 'server.lock') continue;
    const path = join(folder, name);
    hash.update(`${name}\0`);
    if (statSync(path).isFile()) hash.update(readFileSync(path));
  }
  return hash.digest('hex');
}
