/**
 * The life of a well-behaved client, from the first contact to a second token, through every kind of
 * update. A self-test alters one thing of it and asks the judge.
 */
import { Life } from './life.ts';
import { api, message, type Request, request, type Step, signIn } from './steps.ts';

/** Returns the steps of the good life. */
export function goodSteps(): Step[] {
  const life = new Life();
  startsAndPolls(life);
  updatesThatSucceed(life);
  downloadsThatBeginAnew(life);
  updatesThatFail(life);
  services(life);
  sockets(life);
  failingServer(life);
  tokens(life);
  return life.steps;
}

function startsAndPolls(life: Life): void {
  for (const each of [1, 2, 3]) life.steps.push(signIn(`pending ${each}`));
  life.act('restarted', 'client-started');
  life.steps.push(signIn('pending after restart'));
  life.act('accepted', 'accepted');
  life.signsIn('first token');
  life.inventories('first inventory');
  for (const each of [1, 2, 3, 4, 5, 6]) life.polls(`idle ${each}`);
}

function updatesThatSucceed(life: Life): void {
  life.offered('d1: offer', 'd1', 'two');
  life.reports('d1: downloading', 'd1', 'downloading');
  life.fetches('d1: cut', 'd1', {
    responseBytes: 200_000,
    isDelivered: false,
    interference: ['reset'],
  });
  life.fetches('d1: resumed', 'd1', {
    ...{ afterMs: 1500, status: 206, responseBytes: 200_000 },
    headers: { Range: 'bytes=200000-' },
    answerHeaders: { 'Content-Length': '200000', 'Content-Range': 'bytes 200000-399999/400000' },
  });
  life.reports('d1: installing', 'd1', 'installing');
  life.reports('d1: success', 'd1', 'success');
  life.name = 'two';
  life.polls('d1: poll after');
  life.inventories('d1: inventory');
  // The answer to the final status is lost.
  life.updates('d2', 'three');
  const lost = life.steps.findIndex(({ label }) => label === 'd2: success');
  const report = life.steps[lost] as Request;
  life.steps.splice(
    lost,
    1,
    { ...report, label: 'd2: lost', status: 503, answerHeaders: {} },
    { ...report, afterMs: 2000 },
  );
  life.inventories('d2: inventory');
  // The link leads to another origin.
  life.offered('d3: offer', 'd3', 'four');
  life.fetches('d3: redirected', 'd3', {
    ...{ status: 302, responseBytes: 0 },
    answerHeaders: { Location: 'https://mirror.example/d3?k=1' },
  });
  life.fetches('d3: download', 'd3', {
    origin: 'https://mirror.example',
    target: '/storage/artifacts/d3?k=1',
  });
  const redirected = life.steps.find(({ label }) => label === 'd3: redirected') as Request;
  redirected.answerHeaders.Location = 'https://mirror.example/storage/artifacts/d3?k=1';
  life.reports('d3: success', 'd3', 'success');
  life.name = 'four';
  life.polls('d3: poll after');
  life.inventories('d3: inventory');
  // The device restarts in the middle, and the server offers again.
  life.offered('d4: offer', 'd4', 'five');
  life.reports('d4: downloading', 'd4', 'downloading');
  life.fetches('d4: download', 'd4');
  life.act('d4: killed', 'client-killed');
  life.act('d4: started', 'client-started');
  // The new process has no token yet, and asks without one.
  life.steps.push(request('d4: probe', 'get-configuration', { status: 401, afterMs: 300 }));
  life.signsIn('d4: token');
  life.offered('d4: offer again', 'd4', 'five');
  // There is no map that pauses.
  life.authorized('d4: map', 'get-update-control-map', { id: 'd4', status: 200, answer: {} });
  life.reports('d4: success', 'd4', 'success');
  life.name = 'five';
  life.polls('d4: poll after');
  life.inventories('d4: inventory');
}

/** The server refuses a Range, and then replaces the file between two parts. */
function downloadsThatBeginAnew(life: Life): void {
  const cut = { responseBytes: 200_000, isDelivered: false, interference: ['reset'] };
  const resumed = { afterMs: 1500, headers: { Range: 'bytes=200000-', 'If-Range': '"d5"' } };
  life.offered('d5: offer', 'd5', 'six');
  life.fetches('d5: cut', 'd5', cut);
  life.fetches('d5: refused', 'd5', {
    ...{
      ...resumed,
      status: 416,
      responseBytes: 0,
      answerHeaders: { 'Content-Range': 'bytes */0' },
    },
  });
  life.fetches('d5: anew', 'd5', cut);
  life.fetches('d5: replaced', 'd5', { ...resumed, answerHeaders: { ETag: '"other"' } });
  life.reports('d5: success', 'd5', 'success');
  life.name = 'six';
  life.polls('d5: poll after');
  life.inventories('d5: inventory');
}

function updatesThatFail(life: Life): void {
  life.offered('f1: offer', 'f1', 'bad');
  life.fetches('f1: download', 'f1', { interference: ['corrupt'] });
  life.reports('f1: failure', 'f1', 'failure');
  const line = { timestamp: '2026-01-31T12:00:00Z', level: 'error', message: 'checksum mismatch' };
  life.authorized('f1: log', 'put-deployment-log', {
    id: 'f1',
    afterMs: 300,
    sent: { messages: [line] },
  });
  life.polls('f1: poll after');
  life.offered('f2: offer', 'f2', 'aborted');
  life.reports('f2: downloading', 'f2', 'downloading');
  life.act('f2: aborted', 'deployment-aborted', 'f2');
  life.reports('f2: installing', 'f2', 'installing', { status: 409 });
  life.polls('f2: poll after');
  life.offered('f3: offer', 'f3', 'other', { device_types_compatible: ['camera'] });
  // This log comes before the report.
  life.authorized('f3: log', 'put-deployment-log', {
    id: 'f3',
    afterMs: 300,
    sent: { messages: [line] },
  });
  life.reports('f3: failure', 'f3', 'failure');
  life.polls('f3: poll after');
  for (const each of [1, 2]) life.polls(`idle again ${each}`);
}

function services(life: Life): void {
  life.offered('c1: offer', 'c1', 'configuration-c1', {
    source: { uri: configurationLink },
  });
  life.steps.push(
    request('c1: download', 'download-configuration', {
      ...{ status: 200, afterMs: 200, responseBytes: 100 },
      answerHeaders: { 'Content-Length': '100' },
      target: configurationLink.slice(api.length),
    }),
  );
  life.authorized('c1: configuration', 'put-configuration', {
    afterMs: 300,
    sent: { timezone: 'UTC' },
  });
  life.reports('c1: success', 'c1', 'success');
  life.polls('c1: poll after');
  life.authorized('monitors', 'post-monitor-configuration', {
    sent: [{ name: 'sshd', status: 'enabled', type: 'service' }],
  });
  life.authorized('alert', 'post-alerts', {
    sent: [
      {
        name: 'sshd is down',
        level: 'CRITICAL',
        timestamp: '2026-01-31T12:05:00Z',
        subject: { name: 'sshd', type: 'systemd.unit', status: 'not-running' },
      },
    ],
  });
  life.announces = true;
  life.polls('poll before map');
  life.offered('m1: offer', 'm1', 'seven', {
    update_control_map: {
      id: 'm1',
      priority: 0,
      states: {
        ArtifactInstall_Enter: { action: 'pause' },
        ArtifactCommit_Enter: { action: 'pause' },
      },
    },
  });
  life.fetches('m1: download', 'm1');
  life.reports('m1: pause', 'm1', 'pause_before_installing');
  life.authorized('m1: map', 'get-update-control-map', {
    ...{ id: 'm1', status: 200 },
    answer: { update_control_map: { id: 'm1', priority: 0, states: {} } },
  });
  life.reports('m1: installing', 'm1', 'installing');
  life.reports('m1: success', 'm1', 'success');
  life.name = 'seven';
  life.polls('m1: poll after');
  life.inventories('m1: inventory');
}

const configurationLink = `${api}/api/devices/v1/deployments/download/configuration/c1/board/device-1?x-svc-signature=c1`;

function sockets(life: Life): void {
  life.connects('connect 1', 1, 's1');
  life.socket('shell', 'message', 'server', { payload: message(1, 'new', 'session-1') });
  life.socket('shell answer', 'message', 'device', { payload: message(1, 'new', 'session-1') });
  life.socket('ping', 'ping', 'server', { payload: Buffer.from('60') });
  life.socket('pong', 'pong', 'device', { payload: Buffer.from('60') });
  life.socket('unknown message', 'message', 'server', {
    payload: message(99, 'what', 'session-1'),
  });
  life.socket('answer to unknown', 'message', 'device', {
    payload: message(0xffff, 'error', 'session-1'),
  });
  life.socket('check-update', 'message', 'server', {
    payload: message(4, 'check-update', 'session-2'),
  });
  life.polls('poll after check-update', { afterMs: 1000 });
  life.socket('close', 'closed', 'device', { code: 1000 });
  life.connects('connect 2', 2, 's2');
  life.socket('last close', 'closed', 'device', { socket: 's2', code: 1001 });
}

function failingServer(life: Life): void {
  for (const [at, afterMs] of [
    10_000, 1500, 3000, 6000, 12_000, 24_000, 48_000, 96_000,
  ].entries()) {
    life.polls(`outage ${at + 1}`, { status: 503, afterMs });
  }
  life.polls('after outage', { afterMs: 120_000 });
  life.polls('busy', { status: 429, answerHeaders: { 'Retry-After': '60' } });
  life.polls('after busy', { afterMs: 61_000 });
  // The first pause is the server's, and those after it are the device's own.
  const patient = { status: 429, answerHeaders: { 'Retry-After': '30' } };
  life.polls('asked to wait', patient);
  for (const [at, afterMs] of [31_000, 1100, 2200, 4400, 5000, 5500, 6000].entries()) {
    life.polls(`busy again ${at + 1}`, { status: 503, afterMs });
  }
  life.polls('after busy again', { afterMs: 120_000 });
  life.authorized('refused', 'put-attributes', {
    status: 400,
    afterMs: 300,
    sent: [
      { name: 'cpu_load', value: 0.42 },
      ...[1, 2, 3].map((each) => ({ name: `a${each}`, value: each })),
    ],
    answer: { error: 'the number of attributes is above the limit' },
  });
  life.polls('after refused', { answerHeaders: { Connection: 'close' } });
  life.polls('v2 absent', { status: 404, answer: '<html>not found</html>' });
  life.authorized('v1 instead', 'post-next-deployment', {
    sent: { device_type: 'board', artifact_name: life.name },
    afterMs: 300,
  });
  life.polls('v2 again');
}

function tokens(life: Life): void {
  life.polls('revoked', { status: 401, answer: '' });
  life.signsIn('token after revocation', 7);
  life.polls('poll after revocation');
  life.act('clock moved', 'clock-moved', '8');
  life.polls('expired', { status: 401 });
  life.signsIn('token after expiry', 21);
  life.polls('poll after expiry');
  life.polls('last poll');
  // A network that delays one request and not the next makes a second shorter.
  for (let each = 1; each <= 12; each += 1) life.polls(`each second ${each}`, { afterMs: 900 });
}
