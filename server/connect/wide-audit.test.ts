/** User actions on connected devices, each with its name in the wider audit vocabulary. */
import { afterEach, expect, it } from 'vitest';
import { encodeBody } from '../../fixtures/formats/connect-bodies.ts';
import { connectProtocols } from '../../fixtures/formats/connect-message.ts';
import { exportLogs, listLogs } from '../testing/test-audit.ts';
import { connectUser } from '../testing/test-peer.ts';
import type { TestServer } from '../testing/test-server.ts';
import {
  askFile,
  beginDownload,
  beginUpload,
  filePart,
  openStage,
  pathPart,
  sendContent,
  takeContent,
  uploadParts,
} from '../testing/test-transfers.ts';

const { shell, portForward, control } = connectProtocols;
let server: TestServer;

afterEach(() => server.close());

/** Performs a complete terminal session, port forward, download and upload. */
async function actions(dialects: readonly 'wide-audit-actions'[]): Promise<[string, string][]> {
  const stage = await openStage({ dialects: new Set(dialects) });
  server = stage.server;
  const { device, identity } = stage;
  const user = await connectUser(server, identity);
  for (const typ of ['new', 'stop']) {
    user.say({ proto: shell, typ });
    await device.nextOf(typ);
  }
  const target = { remote_host: 'localhost', remote_port: 22, protocol: 'tcp' };
  user.say({ proto: control, typ: 'open', body: encodeBody({ versions: [1] }) });
  user.say({ proto: portForward, typ: 'new', body: encodeBody(target) });
  await device.nextOf('open');
  await device.nextOf('new');
  user.socket.close();
  await device.nextOf('close');
  const download = askFile(stage);
  await sendContent(device, await beginDownload(device), Buffer.from('hello'));
  expect((await download).status).toBe(200);
  await device.nextOf('close');
  const upload = uploadParts(stage, pathPart, filePart());
  await takeContent(device, await beginUpload(device));
  expect((await upload).status).toBe(201);
  const query = { object_id: identity.id, actor_type: 'user', sort: 'asc' };
  const listed = (await listLogs(server, query)).json<{ action: string; change: string }[]>();
  const csv = (await exportLogs(server, query)).text.split('\r\n').slice(1, -1);
  expect(csv.map((line) => line.split(',')[0])).toEqual(listed.map(({ action }) => action));
  return listed.slice(1).map(({ action, change }) => [action, change]);
}

const changes = [
  'terminal opened',
  'terminal closed',
  'port forward opened: tcp localhost:22',
  'port forward closed',
  'file downloaded: /etc/motd',
  'file uploaded: /etc/motd',
];

it('the wider audit vocabulary names each remote action by itself', async () => {
  const words = [
    'open_terminal',
    'close_terminal',
    'open_portforward',
    'close_portforward',
    'download_file',
    'upload_file',
  ];
  expect(await actions(['wide-audit-actions'])).toEqual(
    changes.map((change, at) => [words[at], change]),
  );
});

it('the audit vocabulary of the contract names every remote action update', async () => {
  expect(await actions([])).toEqual(changes.map((change) => ['update', change]));
});
