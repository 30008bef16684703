import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
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
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seededRandom } from '../../fixtures/base/random.ts';
import { fetchFile, linkTo, publish } from '../../server/testing/test-artifacts.ts';
import { type AcceptedDevice, acceptedDevice } from '../../server/testing/test-device.ts';
import { startTestServer, type TestServer } from '../../server/testing/test-server.ts';
import { control, secondTenant } from '../../server/testing/test-tenants.ts';
import { runCommand } from '../testing/built-command.ts';

const folder = mkdtempSync(join(tmpdir(), 'fleetbed-test-'));
const filePath = (name: string): string => join(folder, name);
const [data, file] = [filePath('data'), filePath('state.sqlite')];
const devices: AcceptedDevice[] = [];
let artifactId = '';
let starts = 0;

async function during<Result>(
  dataFolder: string,
  use: (server: TestServer) => Promise<Result>,
): Promise<Result> {
  starts += 1;
  const server = await startTestServer({ dataFolder, random: seededRandom(`state ${starts}`) });
  try {
    return await use(server);
  } finally {
    await server.close();
  }
}

beforeAll(async () => {
  await during(data, async (server) => {
    for (const name of ['a', 'b', 'c']) devices.push(await acceptedDevice(server, name));
    artifactId = await publish(server);
    await secondTenant(server);
  });
  await exportState(data, file);
}, 60_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function exportState(from: string, out: string) {
  return runCommand(['state', 'export', '--data', from, '--out', out]);
}

function importState(from: string, to: string) {
  return runCommand(['state', 'import', from, '--data', to]);
}

/** Returns the rows that Python's own SQLite module reads. */
function query(path: string, sql: string): unknown {
  const script =
    'import json,sqlite3,sys; c=sqlite3.connect(sys.argv[1]); print(json.dumps(c.execute(sys.argv[2]).fetchall()))';
  return JSON.parse(execFileSync('python3', ['-c', script, path, sql], { encoding: 'utf8' }));
}

function change(path: string, sql: string): void {
  const script =
    'import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); c.executescript(sys.argv[2]); c.commit()';
  execFileSync('python3', ['-c', script, path, sql]);
}

function copyOfData(name: string): string {
  const copy = filePath(name);
  spawnSync('cp', ['-r', data, copy]);
  return copy;
}

function tenantFolderOf(folderOfData: string): string {
  const tenants = join(folderOfData, 'tenants');
  const ids = readdirSync(tenants);
  const first = ids.find((id) => readdirSync(join(tenants, id, 'artifacts')).length > 0) ?? '';
  return join(tenants, first);
}

describe('fleetbed state export', () => {
  it('writes one owner-only file that another SQLite can read', () => {
    expect(query(file, 'SELECT identity, status FROM devices ORDER BY identity')).toEqual(
      ['a', 'b', 'c'].map((mac) => [`{"mac":"${mac}"}`, 'accepted']),
    );
    expect(query(file, 'SELECT name FROM tenants ORDER BY seq')).toEqual([['Default'], ['Second']]);
    expect(query(file, 'PRAGMA journal_mode')).toEqual([['delete']]);
    expect(query(file, 'PRAGMA integrity_check')).toEqual([['ok']]);
    expect(statSync(file).mode & 0o077).toBe(0);
    expect(readdirSync(folder).filter((name) => name.startsWith('state.sqlite'))).toEqual([
      'state.sqlite',
    ]);
  });

  it('includes the bytes of artifacts', () => {
    const rows = query(file, 'SELECT sha256, sum(length(content)) FROM artifact_files GROUP BY 1');
    expect(rows).toEqual([[expect.stringMatching(/^[0-9a-f]{64}$/), expect.any(Number)]]);
  });

  it('prints what it wrote, and that the file contains secrets', async () => {
    const { code, stdout } = await exportState(data, filePath('again.sqlite'));
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/again\.sqlite: tenants 2, rows \d+, artifact files 1\n/),
    ]);
    expect((await runCommand(['state', '--help'])).stdout).toContain('password hashes');
  });

  it.each([
    ['a folder that is not there', () => filePath('nowhere'), 'has no fleetbed data'],
    ['a folder of other files', () => folder, 'has no fleetbed data'],
  ])('refuses %s', async (_, from, said) => {
    const { code, stderr } = await exportState(from(), filePath('refused.sqlite'));
    expect([code, stderr]).toEqual([3, expect.stringContaining(said)]);
    expect(existsSync(filePath('refused.sqlite'))).toBe(false);
  });

  it('refuses a folder whose server is running', async () => {
    await during(data, async () => {
      const { code, stderr } = await exportState(data, filePath('refused.sqlite'));
      expect([code, stderr]).toEqual([3, expect.stringContaining('in use by another process')]);
    });
  });

  it('refuses an unwritable target, and requires both options', async () => {
    expect((await exportState(data, filePath('no/folder/here.sqlite'))).code).toBe(3);
    expect((await runCommand(['state', 'export', '--data', data])).code).toBe(2);
    expect((await runCommand(['state', 'export', '--out', file])).code).toBe(2);
  });
});

describe('fleetbed state export of a damaged folder', () => {
  /** Damages a copy of a data folder, exports it, and imports the export to a new folder. */
  async function savedFrom(name: string, damage: (copy: string) => void) {
    const copy = copyOfData(name);
    damage(copy);
    const [out, fresh] = [filePath(`${name}.sqlite`), filePath(`${name}-fresh`)];
    const exit = await exportState(copy, out);
    expect([exit.code, exit.stderr]).toEqual([1, expect.stringContaining('lost: ')]);
    expect((await importState(out, fresh)).code).toBe(0);
    return { stderr: exit.stderr, fresh };
  }

  function macsIn(fresh: string): Promise<string> {
    return during(fresh, async (server) => {
      const listed = await server.call('list-devices', { token: server.adminToken });
      return listed.text;
    });
  }

  it('leaves out an artifact whose file is missing, and keeps everything else', async () => {
    const { stderr, fresh } = await savedFrom('missing', (copy) => {
      rmSync(join(tenantFolderOf(copy), 'artifacts'), { recursive: true });
    });
    expect(stderr).toContain('of the artifact release-1 is lost');
    expect(await macsIn(fresh)).toContain('{"mac":"c"}'.slice(1, -1));
  });

  it('leaves out an artifact whose file has changed', async () => {
    const { stderr } = await savedFrom('changed', (copy) => {
      const artifacts = join(tenantFolderOf(copy), 'artifacts');
      const path = join(artifacts, readdirSync(artifacts)[0] ?? '');
      const bytes = readFileSync(path);
      writeFileSync(path, bytes.fill(0, 100, 200));
    });
    expect(stderr).toContain('its content has changed');
  });

  it('saves the readable tables when pages of others are lost', async () => {
    const { stderr, fresh } = await savedFrom('page', (copy) => {
      const path = join(tenantFolderOf(copy), 'tenant.sqlite');
      const root = "SELECT rootpage FROM sqlite_master WHERE name = 'audit_logs'";
      const [[page = 0] = []] = query(path, root) as number[][];
      const bytes = readFileSync(path);
      writeFileSync(path, bytes.fill(0xff, (page - 1) * 4096, page * 4096));
    });
    expect(stderr).toMatch(/table audit_logs: \d+ rows saved, the others are lost/);
    expect(await macsIn(fresh)).toContain('"mac":"a"');
  });

  it('saves the rows of a table before the damage', async () => {
    const { stderr } = await savedFrom('rows', (copy) => {
      const path = join(tenantFolderOf(copy), 'tenant.sqlite');
      const rows = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)';
      const values = "i, 'accept', 'u', 'user', 'o' || i, 'device', 'entry ' || i";
      const columns = 'time_ms, action, actor_id, actor_type, object_id, object_type, document';
      change(path, `INSERT INTO audit_logs (${columns}) ${rows} SELECT ${values} FROM n`);
      const bytes = readFileSync(path);
      const page = Math.floor(bytes.indexOf('entry 1500') / 4096);
      writeFileSync(path, bytes.fill(0xff, page * 4096, (page + 1) * 4096));
    });
    const [, saved] = /table audit_logs: (\d+) rows saved, the others are lost/.exec(stderr) ?? [];
    expect(Number(saved)).toBeGreaterThan(1000);
    expect(Number(saved)).toBeLessThan(1600);
  });

  it('saves other tenants when the database of one is unreadable', async () => {
    const { stderr, fresh } = await savedFrom('tenant', (copy) => {
      writeFileSync(join(tenantFolderOf(copy), 'tenant.sqlite'), 'x'.repeat(9000));
    });
    expect(stderr).toContain('tenant.sqlite: file is not a database');
    await during(fresh, async (server) => {
      const listed = JSON.parse((await control(server, 'GET', '/tenants')).text);
      expect(listed).toMatchObject([{ name: 'Default' }, { name: 'Second' }]);
    });
  });

  it('finds the tenants by their folders when their list is lost', async () => {
    const { stderr, fresh } = await savedFrom('list', (copy) => {
      truncateSync(join(copy, 'server.sqlite'), 100);
    });
    expect(stderr).toContain('names and tokens of the tenants are lost');
    expect(readdirSync(join(fresh, 'tenants')).toSorted()).toEqual(
      readdirSync(join(data, 'tenants')).toSorted(),
    );
  });
});

describe('fleetbed state import', () => {
  it('restores tokens, tenants and artifacts in a new folder', async () => {
    const fresh = filePath('fresh');
    const { code, stdout } = await importState(file, fresh);
    expect([code, stdout]).toEqual([0, expect.stringContaining('tenants 2')]);
    await during(fresh, async (server) => {
      const token = devices[1]?.token ?? '';
      const { uri } = await linkTo(server, token, artifactId);
      const bytesBefore = await during(data, async (oldServer) => {
        return (await fetchFile((await linkTo(oldServer, token, artifactId)).uri)).bytes;
      });
      expect((await fetchFile(uri)).bytes).toEqual(bytesBefore);
      expect(JSON.parse((await control(server, 'GET', '/tenants')).text)).toHaveLength(2);
    });
  });

  it('fills an empty folder with owner-only files', async () => {
    const fresh = filePath('empty');
    mkdirSync(fresh);
    expect((await importState(file, fresh)).code).toBe(0);
    const files = readdirSync(fresh, { recursive: true }).map((name) => join(fresh, String(name)));
    expect(files.filter((path) => (statSync(path).mode & 0o077) !== 0)).toEqual([]);
  });

  it('refuses a folder that is not empty, and leaves it unchanged', async () => {
    const taken = filePath('taken');
    mkdirSync(taken);
    writeFileSync(join(taken, 'thesis.txt'), 'do not touch');
    const { code, stderr } = await importState(file, taken);
    expect([code, stderr]).toEqual([3, expect.stringContaining('is not empty')]);
    expect(readdirSync(taken)).toEqual(['thesis.txt']);
  });

  const script = (sql: string) => (path: string) => {
    spawnSync('cp', [file, path]);
    change(path, sql);
  };

  it.each<[string, (path: string) => void, string]>([
    ['does not exist', () => undefined, 'does not exist'],
    ['is not a database', (path) => writeFileSync(path, 'x'.repeat(9000)), 'is not a database'],
    ['is empty', (path) => writeFileSync(path, ''), 'is not an exported state'],
    ['is another database', (path) => script('DROP TABLE state')(path), 'is not an exported state'],
    [
      'is of another version',
      (path) => script("UPDATE state SET version = '9.9.9'")(path),
      'version 9.9.9',
    ],
    [
      'names a tenant by a path',
      (path) => script("UPDATE tenants SET id = '../../x' WHERE seq = 1")(path),
      'was changed',
    ],
    [
      'has an artifact that was changed',
      (path) => script('UPDATE artifact_files SET content = zeroblob(9)')(path),
      'was changed',
    ],
    [
      'names a content by a path',
      (path) => script("UPDATE artifact_files SET sha256 = '../x'")(path),
      'was changed',
    ],
    ['lacks a content', (path) => script('DELETE FROM artifact_files')(path), 'is missing'],
  ])('refuses a file that %s, and makes no folder', async (name, make, said) => {
    const path = filePath(`${name.replaceAll(' ', '-')}.sqlite`);
    make(path);
    const { code, stderr } = await importState(path, filePath('never'));
    expect([code, stderr]).toEqual([3, expect.stringContaining(said)]);
    expect(readdirSync(folder).filter((one) => one.startsWith('never'))).toEqual([]);
  });

  it('removes leftovers of killed imports, which no server accepts as complete', async () => {
    const half = filePath('whole.importing');
    mkdirSync(join(half, 'tenants', '11111111-2222-4333-8444-555555555555'), { recursive: true });
    await expect(during(half, async () => undefined)).rejects.toThrow('server.sqlite is missing');
    mkdirSync(filePath('whole.sqlite.draft'));
    writeFileSync(join(filePath('whole.sqlite.draft'), 'state.sqlite'), 'half');
    expect((await exportState(data, filePath('whole.sqlite'))).code).toBe(0);
    expect((await importState(filePath('whole.sqlite'), filePath('whole'))).code).toBe(0);
    const left = readdirSync(folder).filter((one) => one.startsWith('whole'));
    expect(left.toSorted()).toEqual(['whole', 'whole.sqlite']);
  });

  it('leaves out rows that break a table constraint, and counts them', async () => {
    const path = filePath('doubled.sqlite');
    script('INSERT INTO auth_sets SELECT * FROM auth_sets')(path);
    const { code, stderr } = await importState(path, filePath('doubled'));
    expect([code, stderr]).toEqual([0, expect.stringContaining('left out: 3 rows')]);
  });
});
