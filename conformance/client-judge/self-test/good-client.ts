/**
 * The steps of a well-behaved client, from the first contact to a second token, through every kind
 * of update. A self-test alters one thing of it and shows it to the judge.
 */
import { ClientScript } from './client-script.ts';
import { api, authenticationRequest, message, type Request, request, type Step } from './steps.ts';

/** Returns the steps of the good script. */
export function goodSteps(): Step[] {
  const script = new ClientScript();
  startsAndPolls(script);
  updatesThatSucceed(script);
  downloadsThatBeginAnew(script);
  updatesThatFail(script);
  services(script);
  sockets(script);
  failingServer(script);
  tokens(script);
  return script.steps;
}

function startsAndPolls(script: ClientScript): void {
  for (const each of [1, 2, 3]) script.steps.push(authenticationRequest(`pending ${each}`));
  script.addServerEvent('restarted', 'client-started');
  script.steps.push(authenticationRequest('pending after restart'));
  script.addServerEvent('accepted', 'accepted');
  script.authenticates('first token');
  script.inventories('first inventory');
  for (const each of [1, 2, 3, 4, 5, 6]) script.polls(`idle ${each}`);
}

function updatesThatSucceed(script: ClientScript): void {
  script.offered('d1: offer', 'd1', 'two');
  script.reports('d1: downloading', 'd1', 'downloading');
  script.fetches('d1: cut', 'd1', {
    responseBytes: 200_000,
    isDelivered: false,
    faultsAndVariations: ['reset'],
  });
  script.fetches('d1: resumed', 'd1', {
    afterMs: 1500,
    status: 206,
    responseBytes: 200_000,
    headers: { Range: 'bytes=200000-' },
    responseHeaders: { 'Content-Length': '200000', 'Content-Range': 'bytes 200000-399999/400000' },
  });
  script.reports('d1: installing', 'd1', 'installing');
  script.reports('d1: success', 'd1', 'success');
  script.name = 'two';
  script.polls('d1: poll after');
  script.inventories('d1: inventory');
  // The response to the final status is lost.
  script.updates('d2', 'three');
  const lostIndex = script.steps.findIndex(({ label }) => label === 'd2: success');
  const report = script.steps[lostIndex] as Request;
  script.steps.splice(
    lostIndex,
    1,
    { ...report, label: 'd2: lost', status: 503, responseHeaders: {} },
    { ...report, afterMs: 2000 },
  );
  script.inventories('d2: inventory');
  // The link leads to another origin.
  script.offered('d3: offer', 'd3', 'four');
  script.fetches('d3: redirected', 'd3', {
    status: 302,
    responseBytes: 0,
    responseHeaders: { Location: 'https://mirror.example/d3?k=1' },
  });
  script.fetches('d3: download', 'd3', {
    origin: 'https://mirror.example',
    target: '/storage/artifacts/d3?k=1',
  });
  const redirected = script.steps.find(({ label }) => label === 'd3: redirected') as Request;
  redirected.responseHeaders.Location = 'https://mirror.example/storage/artifacts/d3?k=1';
  script.reports('d3: success', 'd3', 'success');
  script.name = 'four';
  script.polls('d3: poll after');
  script.inventories('d3: inventory');
  // The device restarts in the middle, and the server offers again.
  script.offered('d4: offer', 'd4', 'five');
  script.reports('d4: downloading', 'd4', 'downloading');
  script.fetches('d4: download', 'd4');
  script.addServerEvent('d4: killed', 'client-killed');
  script.addServerEvent('d4: started', 'client-started');
  // The new process has no token yet, and polls without one.
  script.steps.push(request('d4: probe', 'get-configuration', { status: 401, afterMs: 300 }));
  script.authenticates('d4: token');
  script.offered('d4: offer again', 'd4', 'five');
  // There is no map that pauses.
  script.authorized('d4: map', 'get-update-control-map', { id: 'd4', status: 200, response: {} });
  script.reports('d4: success', 'd4', 'success');
  script.name = 'five';
  script.polls('d4: poll after');
  script.inventories('d4: inventory');
}

/** The server refuses a Range, and then replaces the file between two parts. */
function downloadsThatBeginAnew(script: ClientScript): void {
  const cut = { responseBytes: 200_000, isDelivered: false, faultsAndVariations: ['reset'] };
  const resumed = { afterMs: 1500, headers: { Range: 'bytes=200000-', 'If-Range': '"d5"' } };
  script.offered('d5: offer', 'd5', 'six');
  script.fetches('d5: cut', 'd5', cut);
  script.fetches('d5: refused', 'd5', {
    ...resumed,
    status: 416,
    responseBytes: 0,
    responseHeaders: { 'Content-Range': 'bytes */0' },
  });
  script.fetches('d5: again', 'd5', cut);
  script.fetches('d5: replaced', 'd5', { ...resumed, responseHeaders: { ETag: '"other"' } });
  script.reports('d5: success', 'd5', 'success');
  script.name = 'six';
  script.polls('d5: poll after');
  script.inventories('d5: inventory');
}

function updatesThatFail(script: ClientScript): void {
  script.offered('f1: offer', 'f1', 'bad');
  script.fetches('f1: download', 'f1', { faultsAndVariations: ['corrupted'], alteration: 'bytes' });
  script.reports('f1: failure', 'f1', 'failure');
  const line = { timestamp: '2026-01-31T12:00:00Z', level: 'error', message: 'checksum mismatch' };
  script.authorized('f1: log', 'put-deployment-log', {
    id: 'f1',
    afterMs: 300,
    sent: { messages: [line] },
  });
  script.polls('f1: poll after');
  script.offered('f2: offer', 'f2', 'aborted');
  script.reports('f2: downloading', 'f2', 'downloading');
  script.addServerEvent('f2: aborted', 'deployment-aborted', 'f2');
  script.reports('f2: installing', 'f2', 'installing', { status: 409 });
  script.polls('f2: poll after');
  script.offered('f3: offer', 'f3', 'other', { device_types_compatible: ['camera'] });
  // This log comes before the report.
  script.authorized('f3: log', 'put-deployment-log', {
    id: 'f3',
    afterMs: 300,
    sent: { messages: [line] },
  });
  script.reports('f3: failure', 'f3', 'failure');
  script.polls('f3: poll after');
  for (const each of [1, 2]) script.polls(`idle again ${each}`);
}

function services(script: ClientScript): void {
  script.offered('c1: offer', 'c1', 'configuration-c1', {
    source: { uri: configurationLink },
  });
  script.steps.push(
    request('c1: download', 'download-configuration', {
      status: 200,
      afterMs: 200,
      responseBytes: 100,
      responseHeaders: { 'Content-Length': '100' },
      target: configurationLink.slice(api.length),
    }),
  );
  script.authorized('c1: configuration', 'put-configuration', {
    afterMs: 300,
    sent: { timezone: 'UTC' },
  });
  script.reports('c1: success', 'c1', 'success');
  script.polls('c1: poll after');
  script.authorized('monitors', 'post-monitor-configuration', {
    sent: [{ name: 'sshd', status: 'enabled', type: 'service' }],
  });
  script.authorized('alert', 'post-alerts', {
    sent: [
      {
        name: 'sshd is down',
        level: 'CRITICAL',
        timestamp: '2026-01-31T12:05:00Z',
        subject: { name: 'sshd', type: 'systemd.unit', status: 'not-running' },
      },
    ],
  });
  script.announces = true;
  script.polls('poll before map');
  script.offered('m1: offer', 'm1', 'seven', {
    update_control_map: {
      id: 'm1',
      priority: 0,
      states: {
        ArtifactInstall_Enter: { action: 'pause' },
        ArtifactCommit_Enter: { action: 'pause' },
      },
    },
  });
  script.fetches('m1: download', 'm1');
  script.reports('m1: pause', 'm1', 'pause_before_installing');
  script.authorized('m1: map', 'get-update-control-map', {
    id: 'm1',
    status: 200,
    response: { update_control_map: { id: 'm1', priority: 0, states: {} } },
  });
  script.reports('m1: installing', 'm1', 'installing');
  script.reports('m1: success', 'm1', 'success');
  script.name = 'seven';
  script.polls('m1: poll after');
  script.inventories('m1: inventory');
}

const configurationLink = `${api}/api/devices/v1/deployments/download/configuration/c1/board/device-1?x-svc-signature=c1`;

function sockets(script: ClientScript): void {
  script.connects('connect 1', 1, 's1');
  script.socket('shell', 'message', 'server', { payload: message(1, 'new', 'session-1') });
  script.socket('shell response', 'message', 'device', { payload: message(1, 'new', 'session-1') });
  script.socket('ping', 'ping', 'server', { payload: Buffer.from('60') });
  script.socket('pong', 'pong', 'device', { payload: Buffer.from('60') });
  script.socket('unknown message', 'message', 'server', {
    payload: message(99, 'what', 'session-1'),
  });
  script.socket('response to unknown', 'message', 'device', {
    payload: message(0xffff, 'error', 'session-1'),
  });
  script.socket('check-update', 'message', 'server', {
    payload: message(4, 'check-update', 'session-2'),
  });
  script.polls('poll after check-update', { afterMs: 1000 });
  script.socket('close', 'closed', 'device', { code: 1000 });
  script.connects('connect 2', 2, 's2');
  script.socket('last close', 'closed', 'device', { socket: 's2', code: 1001 });
}

function failingServer(script: ClientScript): void {
  for (const [at, afterMs] of [
    10_000, 1500, 3000, 6000, 12_000, 24_000, 48_000, 96_000,
  ].entries()) {
    script.polls(`outage ${at + 1}`, { status: 503, afterMs });
  }
  script.polls('after outage', { afterMs: 120_000 });
  script.polls('busy', { status: 429, responseHeaders: { 'Retry-After': '60' } });
  script.polls('after busy', { afterMs: 61_000 });
  // The first pause is the server's, and those after it are the device's own.
  const patient = { status: 429, responseHeaders: { 'Retry-After': '30' } };
  script.polls('asked to wait', patient);
  for (const [at, afterMs] of [31_000, 1100, 2200, 4400, 5000, 5500, 6000].entries()) {
    script.polls(`busy again ${at + 1}`, { status: 503, afterMs });
  }
  script.polls('after busy again', { afterMs: 120_000 });
  script.authorized('refused', 'put-attributes', {
    status: 400,
    afterMs: 300,
    sent: [
      { name: 'cpu_load', value: 0.42 },
      ...[1, 2, 3].map((each) => ({ name: `a${each}`, value: each })),
    ],
    response: { error: 'the number of attributes is above the limit' },
  });
  script.polls('after refused', { responseHeaders: { Connection: 'close' } });
  script.polls('v2 absent', { status: 404, response: '<html>not found</html>' });
  script.authorized('v1 instead', 'post-next-deployment', {
    sent: { device_type: 'board', artifact_name: script.name },
    afterMs: 300,
  });
  script.polls('v2 again');
}

function tokens(script: ClientScript): void {
  script.polls('revoked', { status: 401, response: '' });
  script.authenticates('token after revocation', 7);
  script.polls('poll after revocation');
  script.addServerEvent('clock moved', 'clock-moved', '8');
  script.polls('expired', { status: 401 });
  script.authenticates('token after expiry', 21);
  script.polls('poll after expiry');
  script.polls('last poll');
  // A network that delays one request and not the next makes a second shorter.
  for (let each = 1; each <= 12; each += 1) script.polls(`each second ${each}`, { afterMs: 900 });
}
