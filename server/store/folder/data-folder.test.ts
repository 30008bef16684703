import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { seededRandom } from '../../../fixtures/base/random.ts';
import type { ServerOptions } from '../../server.ts';
import { linkTo, publish } from '../../testing/test-artifacts.ts';
import { acceptedDevice, authenticate } from '../../testing/test-device.ts';
import { attributeOf } from '../../testing/test-inventory.ts';
import { startTestServer, type TestServer } from '../../testing/test-server.ts';
import { control, logIn, secondTenant, setTenantStatus } from '../../testing/test-tenants.ts';
import { openFileSql } from '../engine/sql-file.ts';
import { TestFolder } from '../engine/testing/engines.ts';
import { DataFolder } from './data-folder.ts';

let folder: TestFolder;
let data: string;
let starts = 0;
const adminPassword = 'correct horse';
/** Options of a start that names no password. */
const unchosen: ServerOptions = {};

beforeEach(() => {
  folder = new TestFolder();
  data = join(folder.path, 'data');
});

afterEach(() => folder.remove());

/** Starts a server with its own random seed, since no two processes share one. */
function start(options: ServerOptions = { adminPassword }): Promise<TestServer> {
  starts += 1;
  const random = seededRandom(`start ${starts}`);
  return startTestServer({ dataFolder: data, random, ...options });
}

/** Runs `use` on a server over the folder, and closes it. */
async function during<Result>(
  use: (server: TestServer) => Promise<Result>,
  options?: ServerOptions,
): Promise<Result> {
  const server = await start(options);
  try {
    return await use(server);
  } finally {
    await server.close();
  }
}

/** Returns every file with its content, and every folder. */
function contentOf(path: string): Record<string, string> {
  const names = readdirSync(path, { recursive: true }).map(String);
  const values = names.map((name) => {
    const place = join(path, name);
    return [name, statSync(place).isDirectory() ? '' : readFileSync(place, 'base64')];
  });
  return Object.fromEntries(values);
}

function tenantFolder(): string {
  const [id = ''] = readdirSync(join(data, 'tenants'));
  return join(data, 'tenants', id);
}

describe('a server with a data folder', () => {
  it('remembers accepted devices after restart, with token, attributes and signature', async () => {
    const device = await during(async (server) => {
      const accepted = await acceptedDevice(server, 'a');
      const json = [{ name: 'color', value: 'red' }];
      await server.call('put-attributes', { token: accepted.token, json });
      return accepted;
    });
    await during(async (server) => {
      const response = await server.call('patch-attributes', { token: device.token, json: [] });
      expect(response.status).toBe(200);
      expect((await authenticate(server, device)).status).toBe(200);
      expect(await attributeOf(server, device.id, 'inventory', 'color')).toBe('red');
    });
  });

  it("keeps users' tokens and signed links valid", async () => {
    const tokenAndLink = await during(async (server) => {
      const id = await publish(server);
      const device = await acceptedDevice(server, 'a');
      const { pathname, search } = new URL((await linkTo(server, device.token, id)).uri);
      return { token: server.adminToken, link: pathname + search };
    });
    await during(async (server) => {
      expect((await server.call('get-own-user', { token: tokenAndLink.token })).status).toBe(200);
      const file = await server.request('GET', tokenAndLink.link);
      expect(file.status).toBe(200);
    });
  });

  it('refuses a token of another data folder', async () => {
    const token = await during(async (server) => server.adminToken);
    data = join(folder.path, 'other');
    await during(async (server) => {
      expect((await server.call('get-own-user', { token })).status).toBe(401);
    });
  });

  it('keeps a key per algorithm, so that a change of algorithm invalidates no token', async () => {
    const token = await during(async (server) => server.adminToken);
    await during(
      async (server) => {
        expect((await server.call('get-own-user', { token })).status).toBe(401);
      },
      { dialects: new Set(['rs256']) },
    );
    await during(async (server) => {
      expect((await server.call('get-own-user', { token })).status).toBe(200);
    });
  });

  it('keeps every tenant with its token and status', async () => {
    const second = await during(async (server) => {
      const second = await secondTenant(server);
      await setTenantStatus(server, second.id, 'suspended');
      return second;
    });
    await during(async (server) => {
      const listed = JSON.parse((await control(server, 'GET', '/tenants')).text);
      expect(listed).toMatchObject([
        { name: 'Default', status: 'active' },
        { id: second.id, name: 'Second', tenantToken: second.tenantToken, status: 'suspended' },
      ]);
      await setTenantStatus(server, second.id, 'active');
      expect((await logIn(server, second.adminEmail, second.adminPassword)).status).toBe(200);
    });
    expect(readdirSync(join(data, 'tenants'))).toHaveLength(2);
  });

  it('keeps admin and password, and accepts a newly configured password', async () => {
    await during(async () => undefined);
    await during(async (server) => {
      expect((await logIn(server, server.adminEmail, adminPassword)).status).toBe(200);
    }, unchosen);
    await during(
      async (server) => {
        expect((await logIn(server, server.adminEmail, adminPassword)).status).toBe(401);
        expect((await logIn(server, server.adminEmail, 'battery staple')).status).toBe(200);
      },
      { adminPassword: 'battery staple' },
    );
  });

  it('reports its generated password until somebody changes it', async () => {
    const password = await during(async (server) => server.adminPassword, unchosen);
    await during(async (server) => {
      expect(server.adminPassword).toBe(password);
      const json = { password: 'changed by him', current_password: password };
      const { status } = await server.call('update-own-user', { token: server.adminToken, json });
      expect(status).toBe(204);
    }, unchosen);
    await during(async (server) => expect(server.adminPassword).toBe(''), unchosen);
  });

  it('lets no other user read its files', async () => {
    await during(async (server) => {
      await publish(server);
      const files = readdirSync(data, { recursive: true }).map((name) => join(data, String(name)));
      const open = files.filter((path) => (statSync(path).mode & 0o077) !== 0);
      expect(open).toEqual([]);
    });
  });

  it('leaves databases without logs when it is closed', async () => {
    await during(async () => undefined);
    expect(readdirSync(data).toSorted()).toEqual([
      'server.lock',
      'server.sqlite',
      'server.sqlite-sums',
      'tenants',
    ]);
    const inTenant = ['artifacts', 'tenant.sqlite', 'tenant.sqlite-sums'];
    expect(readdirSync(tenantFolder()).toSorted()).toEqual(inTenant);
  });

  it('removes files that were received but never kept, and incomplete tenants', async () => {
    await during(async () => undefined);
    const artifacts = join(tenantFolder(), 'artifacts');
    writeFileSync(join(artifacts, 'incoming-7'), 'half');
    writeFileSync(join(artifacts, 'a'.repeat(64)), 'of no artifact');
    const kept = await DataFolder.open(data);
    const id = '00000000-0000-4000-8000-000000000000';
    const otherFields = { token: 't', status: 'active', isFirst: false, createdMs: 1 } as const;
    (await kept.beginTenant({ id, name: 'half', ...otherFields })).close();
    kept.close();
    await during(async (server) => {
      expect(JSON.parse((await control(server, 'GET', '/tenants')).text)).toHaveLength(1);
    });
    expect(readdirSync(artifacts)).toEqual([]);
    expect(readdirSync(join(data, 'tenants'))).not.toContain(id);
  });
});

describe('an unusable data folder', () => {
  /** Returns the path of the database that the tests damage. */
  const tenantDatabase = (): string => join(tenantFolder(), 'tenant.sqlite');
  const server = (): string => join(data, 'server.sqlite');
  const artifact = (): string => {
    const artifacts = join(tenantFolder(), 'artifacts');
    return join(artifacts, readdirSync(artifacts)[0] ?? '');
  };
  const setVersion = (path: string): void => {
    const sql = openFileSql(path);
    sql.run('PRAGMA user_version = 99');
    sql.close();
  };
  const flip = (path: string): void => {
    const bytes = readFileSync(path);
    // Each page except the first loses its header.
    for (let at = 4096; at < bytes.length; at += 4096) bytes.fill(0xff, at, at + 16);
    writeFileSync(path, bytes);
  };
  const changeByte = (path: string): void => {
    const bytes = readFileSync(path);
    const at = bytes.length - 10;
    writeFileSync(path, bytes.fill((bytes[at] ?? 0) ^ 1, at, at + 1));
  };
  const removeFolder = (path: string): void => rmSync(path, { recursive: true });
  const replaceByFolder = (path: string): void => {
    rmSync(path);
    mkdirSync(path);
  };
  const remedy = 'fleetbed state export --data';

  it.each<[string, () => string, (path: string) => void, string, string]>([
    ['a tenant that is missing', tenantDatabase, (path) => rmSync(path), 'is missing', remedy],
    ['a tenant that is empty', tenantDatabase, (path) => truncateSync(path), 'is empty', remedy],
    [
      'a tenant that is cut short',
      tenantDatabase,
      (path) => truncateSync(path, 6000),
      'has 6000 of',
      remedy,
    ],
    ['a tenant with a byte changed', tenantDatabase, changeByte, 'was changed', remedy],
    ['a folder of a tenant that is missing', tenantFolder, removeFolder, 'is missing', remedy],
    ['no folder of tenants', () => join(data, 'tenants'), removeFolder, 'is missing', remedy],
    ['an empty list of tenants', server, (path) => truncateSync(path), 'is empty', remedy],
    [
      'a tenant that the list does not name',
      () => join(data, 'tenants', '00000000-0000-4000-8000-000000000000'),
      (path) => mkdirSync(path),
      'does not list',
      remedy,
    ],
    ['sums that are not sums', () => `${tenantDatabase()}-sums`, changeByte, 'is damaged', remedy],
    ['a tenant with flipped bytes', tenantDatabase, flip, 'damaged', remedy],
    [
      'a tenant that is no longer a database',
      tenantDatabase,
      (path) => writeFileSync(path, 'x'.repeat(9000)),
      'no longer a database',
      remedy,
    ],
    ['a tenant of another version', tenantDatabase, setVersion, 'version 99', remedy],
    [
      'a tenant that is a folder',
      tenantDatabase,
      replaceByFolder,
      'is a folder',
      'replace it with the file itself',
    ],
    ['an artifact file that is missing', artifact, (path) => rmSync(path), 'is missing', remedy],
    [
      'an artifact file that is cut short',
      artifact,
      (path) => truncateSync(path, 10),
      'has 10 of',
      remedy,
    ],
    ['a list of tenants that is missing', server, (path) => rmSync(path), 'is missing', remedy],
    ['a list of tenants with flipped bytes', server, flip, 'damaged', remedy],
    [
      'a list of tenants that is not a database',
      server,
      (path) => writeFileSync(path, 'x'.repeat(9000)),
      'no longer a database',
      remedy,
    ],
    ['a list of tenants of another version', server, setVersion, 'version 99', remedy],
  ])(
    'is refused for %s in one sentence that names the file',
    async (_, place, damage, problem, remedy) => {
      await during((running) => publish(running));
      const path = place();
      damage(path);
      const contentBefore = contentOf(data);
      const refusal = await start().then(() => 'started', String);
      expect(refusal).toContain(path);
      expect(refusal).toContain(problem);
      expect(refusal).toContain(remedy);
      expect(refusal).not.toContain('\n');
      expect(contentOf(data)).toEqual(contentBefore);
    },
  );

  it('is refused while another server uses it, and accepted afterwards', async () => {
    const running = await start();
    const refusal = await start().then(() => 'started', String);
    expect(refusal).toContain('is in use by another process; stop that process');
    await running.close();
    await during(async (next) => expect(next.baseUrl).toMatch(/^http/));
  });

  it('is refused when it contains foreign files', async () => {
    mkdirSync(data);
    writeFileSync(join(data, 'thesis.txt'), 'do not touch');
    await expect(start()).rejects.toThrow(`${data} has other files`);
    expect(readdirSync(data)).toEqual(['thesis.txt']);
  });

  it.each(['file', 'part of the path'])('is refused as a file: %s', async (kind) => {
    appendFileSync(data, 'a file');
    if (kind !== 'file') data = join(data, 'below');
    await expect(start()).rejects.toThrow('a file where a folder must be');
  });

  it.runIf(process.platform === 'linux')('is refused if it cannot be created', async () => {
    data = '/proc/nope';
    await expect(start()).rejects.toThrow('/proc/nope cannot be created (ENOENT');
  });

  it('stays unchanged by a refusal and opens again once the damage is repaired', async () => {
    await during((running) => publish(running));
    const path = artifact();
    renameSync(path, `${path}.away`);
    await expect(start()).rejects.toThrow('is missing');
    renameSync(`${path}.away`, path);
    await during(async (running) => {
      const listed = await running.call('list-artifacts-v1', { token: running.adminToken });
      expect(listed.text).toContain('release');
    });
  });
});
