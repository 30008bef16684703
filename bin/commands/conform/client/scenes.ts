/** The scenes as data: a row for each name that duties refer to, and the reasons of those without. */
import type { SceneName } from '../../../../conformance/clients/scenes.ts';
import type { Moment, Scene, Step } from './scene.ts';
import { downloadOperations, pollOperations } from './sights.ts';

const DAY_SECONDS = 86_400;

const toPolls = { match: { operation: pollOperations } };
const toDownloads = { match: { operation: downloadOperations } };
const toReports = { match: { operation: 'put-deployment-status' } };
const toLogs = { match: { operation: 'put-deployment-log' } };
const toSignIns = { match: { operation: 'post-auth-request' } };
const toSockets = { match: { operation: 'connect' } };

const deploy: Step = { deploy: { offer: 'new' } };
const ends: Step = { await: 'final report' };
const polls: Step = { await: 'poll with an answer 200 or 204' };
const clear: Step = { clear: 'faults' };
const goesOn: Step = { idleIntervals: 2 };

const unavailable = { kind: 'answer', status: 503, body: 'html' };
/** What a client meets while a server fails: no answer asks it to wait for a time. */
const sixFailures = [...[unavailable, 'reset', 'gateway-502', unavailable, 'reset', unavailable]];

const jwt = 'application/jwt';
/** A token of 4 KB, by an algorithm that no server of the family uses. */
const longToken = [
  { alg: 'ES512', typ: 'JWT', kid: 'examined' },
  { sub: 'examined', 'x.unknown': 'x'.repeat(2900), exp: 4_102_444_800 },
  'a signature of another length',
]
  .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
  .join('.');

const pausesEverywhere = {
  ArtifactInstall_Enter: 'pause',
  ArtifactReboot_Enter: 'pause',
  ArtifactCommit_Enter: 'pause',
} as const;

const unaskedMap = { id: 'unasked', priority: 0, states: { ArtifactInstall_Enter: {} } };

const oddBodies = [
  ...['empty', 'html', 'object-error', 'cut-json'],
  { text: 'x'.repeat(65_536), mediaType: 'text/plain' },
];

type SceneRow = Omit<Scene, 'name'>;

const accepted = (...steps: readonly Step[]): SceneRow => ({ start: 'accepted', steps });

const damage = {
  ...{ ...toDownloads, times: 'until-cleared' },
  act: { kind: 'corrupted', atByte: 150_000 },
};
/** Every download has a byte of the payload changed, so that its checksum does not match. */
const damaged: Step = { faults: [damage] };

/** A deployment whose download meets these faults, and which ends in spite of them. */
const faultyDownload = (...faults: readonly object[]): SceneRow =>
  accepted({ faults }, deploy, { await: 'download' }, ends);

/** A step for each: the client starts with an empty folder at an address that it must refuse. */
const refusedAt = (...places: readonly (Step & { startAt: unknown })[]): SceneRow => ({
  start: 'stopped',
  steps: places.flatMap((place): Step[] => [place, { idleIntervals: 2 }]),
  needs: 'tls',
  recovers: false,
});

const scenes = {
  'ordinary-traffic': accepted(...Array<Step>(4).fill({ await: 'poll without an update' })),
  'first-contact': {
    start: 'unknown',
    steps: [{ await: 'refused sign-in' }, { user: 'accept' }, { await: 'sign-in with a token' }],
  },
  pending: {
    start: 'unknown',
    steps: [
      { await: 'refused sign-in' },
      { idleIntervals: 3 },
      { user: 'accept' },
      { await: 'sign-in with a token' },
    ],
  },
  'restart-while-pending': {
    start: 'unknown',
    steps: [
      { await: 'refused sign-in' },
      { client: 'restart' },
      { await: 'refused sign-in' },
      { user: 'accept' },
      { await: 'sign-in with a token' },
    ],
  },
  rejection: accepted(
    { user: 'reject' },
    { await: 'refused sign-in' },
    { idleIntervals: 3 },
    { user: 'accept' },
    { await: 'sign-in with a token' },
  ),
  'token-expiry': accepted(
    { advanceSeconds: 8 * DAY_SECONDS },
    { await: 'sign-in with a token' },
    polls,
    // A request that was underway may still have the former token.
    polls,
    polls,
  ),
  revocation: accepted(
    { faults: [{ ...toPolls, act: 'revoke-token' }] },
    { await: 'sign-in with a token' },
    polls,
  ),
  'other-token': {
    ...accepted(
      {
        faults: [
          { ...toPolls, act: 'revoke-token' },
          // The server does not know this token: the client has to sign in once more.
          {
            ...toSignIns,
            act: { kind: 'answer', status: 200, body: { text: longToken, mediaType: jwt } },
          },
        ],
      },
      { await: 'sign-in with a token' },
      { await: 'sign-in with a token' },
      deploy,
      ends,
    ),
    server: { dialects: new Set(['rs256']) },
  },
  'clock-wrong': accepted(
    { advanceSeconds: 9 * 365 * DAY_SECONDS },
    { await: 'sign-in with a token' },
    polls,
  ),
  update: accepted(
    deploy,
    { await: 'download' },
    ends,
    // The client signs in with the identity that it has after the update.
    { faults: [{ ...toPolls, act: 'revoke-token' }] },
    { await: 'sign-in' },
    { user: 'accept' },
    polls,
    polls,
  ),
  'second-update': accepted(deploy, ends, deploy, ends),
  'update-restart': accepted(
    deploy,
    { cut: { name: 'at half of the download', hold: heldDownload(0.5) } },
    ends,
  ),
  'restart-while-installing': accepted(
    deploy,
    {
      cut: {
        name: 'after "installing" was stored, without an answer',
        hold: {
          match: { operation: 'put-deployment-status', report: 'installing' },
          when: 'after',
        },
      },
    },
    ends,
  ),
  'revoked-in-update': accepted(
    {
      faults: [
        { ...toReports, act: 'revoke-token' },
        { match: { operation: 'put-deployment-status', report: 'success' }, act: 'revoke-token' },
      ],
    },
    deploy,
    { await: 'report' },
    { await: 'final report', orGoOn: true },
    { user: 'abort' },
    clear,
    { faults: [damage, { ...toLogs, act: 'revoke-token' }] },
    deploy,
    ends,
    goesOn,
  ),
  'v2-absent': accepted(
    {
      faults: [
        {
          match: { operation: ['post-next-deployment-v2', 'get-update-control-map'] },
          times: 'until-cleared',
          act: { kind: 'answer', status: 404 },
        },
      ],
    },
    { await: 'poll by version 1' },
    deploy,
    ends,
    clear,
    goesOn,
  ),
  'legal-variations': accepted(
    {
      vary: [
        ...(['unknown-members', 'member-order', 'json-spaces', 'json-escapes'] as const),
        ...(['header-case', 'header-order', 'media-type', 'chunked', 'timestamps'] as const),
        ...(['link-query-order', 'link-unknown-parameter', 'link-scheme-case'] as const),
      ],
    },
    {
      faults: [
        { ...toPolls, act: { kind: 'answer', status: 204, headers: { Connection: 'close' } } },
      ],
    },
    { await: 'poll without an update' },
    deploy,
    ends,
  ),
  'conflicting-data': accepted(
    { faults: [{ ...toPolls, act: { kind: 'answer', status: 409 } }] },
    { await: 'poll' },
    polls,
  ),
  'other-type': accepted(
    {
      faults: [
        {
          ...toPolls,
          times: 'until-cleared',
          act: { kind: 'altered-json', set: { 'artifact.device_types_compatible': ['other'] } },
        },
      ],
    },
    deploy,
    { await: 'poll with an update' },
    { await: 'final report', orGoOn: true },
  ),
  'bad-instructions': accepted(
    {
      faults: [
        {
          ...toPolls,
          times: { next: 2 },
          act: { kind: 'altered-json', set: { 'artifact.source.uri': null } },
        },
      ],
    },
    deploy,
    { await: 'poll with an update' },
    { await: 'final report', orGoOn: true },
  ),
  'wrong-checksum': accepted(damaged, deploy, { await: 'download' }, ends),
  'short-body': faultyDownload({ ...toDownloads, times: { next: 2 }, act: 'truncated' }),
  'endless-body': faultyDownload({
    ...{ ...toDownloads, times: { next: 2 } },
    act: { kind: 'over-long', extraBytes: 1_048_576, isChunked: true },
  }),
  'expired-link': faultyDownload({
    ...{ ...toDownloads, times: { next: 3 } },
    act: { kind: 'answer', status: 403 },
  }),
  'cut-download': faultyDownload({
    ...toDownloads,
    when: 'body',
    script: [0, 1, 'half', 250_000].map((afterBytes) => ({ kind: 'reset', afterBytes })),
  }),
  'lying-206': faultyDownload({
    ...toDownloads,
    script: ['reset', { kind: 'shifted-range', claims: 'sent' }],
    when: 'body',
  }),
  'changed-file': faultyDownload({
    ...toDownloads,
    when: 'body',
    script: ['reset', 'changed-validator'],
  }),
  'redirected-link': {
    ...faultyDownload({ ...toDownloads, act: { kind: 'redirect', status: 302 } }),
    server: { dialects: new Set(['storage-host']) },
  },
  'unsatisfiable-range': faultyDownload(
    { ...{ ...toDownloads, when: 'body' }, act: 'reset' },
    { match: { operation: downloadOperations, nthCall: 2 }, act: 'range-refused' },
  ),
  'failing-download': accepted(
    {
      faults: [{ ...toDownloads, times: 'until-cleared', act: { kind: 'answer', status: 503 } }],
    },
    deploy,
    { await: 'download' },
    { await: 'final report', intervals: 2, orGoOn: true },
    clear,
    { user: 'abort' },
  ),
  'installed-already': accepted(
    { deploy: { offer: 'installed' } },
    { await: 'poll with an update' },
    ends,
  ),
  abort: accepted(
    ...['downloading', 'installing', 'rebooting'].flatMap((at): Step[] => [
      {
        faults: [
          { ...toReports, act: { kind: 'abort-deployment', at } },
          // A client that goes on with its download has to request it again, again and again.
          ...(at === 'downloading'
            ? [{ ...toDownloads, when: 'body', times: { next: 4 }, act: 'reset' }]
            : []),
        ],
      },
      deploy,
      { await: 'poll with an update' },
      { await: 'report that ends a deployment', orGoOn: true },
      goesOn,
      { user: 'abort' },
      clear,
    ]),
  ),
  'deployment-gone': accepted(
    { faults: [{ ...toReports, act: { kind: 'answer', status: 404 } }] },
    deploy,
    { await: 'report' },
    { user: 'abort' },
    goesOn,
  ),
  'lost-report': accepted(
    {
      faults: [
        ...['downloading', 'installing', 'rebooting'].map((report) => ({
          match: { operation: 'put-deployment-status', report },
          ...{ when: 'after', act: 'reset' },
        })),
        {
          match: { operation: 'put-deployment-status', report: 'success' },
          ...{ when: 'after', script: ['reset', 'gateway-503'] },
        },
      ],
    },
    deploy,
    ends,
  ),
  'failing-update': accepted(damaged, deploy, ends, { idleIntervals: 3 }),
  'log-too-large': accepted(
    {
      faults: [damage, { ...toLogs, times: 'until-cleared', act: { kind: 'answer', status: 413 } }],
    },
    deploy,
    ends,
    goesOn,
  ),
  'control-map': {
    ...accepted(
      { deploy: { offer: 'new', states: pausesEverywhere } },
      { await: 'poll with an update' },
      { await: 'report of a pause', orGoOn: true },
      { await: 'map request', orGoOn: true },
      { user: 'continueMap' },
      ends,
      { deploy: { offer: 'new', states: pausesEverywhere } },
      { await: 'poll with an update' },
      { await: 'report of a pause', orGoOn: true },
      { user: 'abort' },
      { idleIntervals: 3 },
    ),
    needs: 'control-map',
  },
  'unasked-control-map': {
    ...accepted(
      {
        faults: [
          {
            ...toPolls,
            times: 'until-cleared',
            act: { kind: 'altered-json', set: { 'artifact.update_control_map': unaskedMap } },
          },
        ],
      },
      deploy,
      ends,
    ),
    lacks: 'control-map',
  },
  'report-outage': accepted(
    {
      faults: [
        {
          match: { operation: 'put-deployment-status', report: 'success' },
          ...{ when: 'before', script: sixFailures },
        },
      ],
    },
    deploy,
    { await: 'poll with an update' },
    { await: 'final report', intervals: 20 },
  ),
  inventory: accepted({ idleIntervals: 6 }, deploy, ends, {
    await: 'inventory',
    intervals: 6,
    orGoOn: true,
  }),
  configuration: {
    ...accepted({ deploy: { offer: 'configuration' } }, { await: 'poll with an update' }, ends),
    needs: 'configuration',
  },
  sockets: {
    ...accepted(
      { send: 'ping' },
      { idleSeconds: 2 },
      { send: 'fragments' },
      { send: 'unknown-message' },
      { idleSeconds: 2 },
      { user: 'checkUpdate' },
      polls,
    ),
    needs: 'websocket',
  },
  'socket-refused': {
    ...accepted(
      { faults: [{ ...toSockets, times: { next: 7 }, act: 'refuse-socket' }] },
      { client: 'restart' },
      { idleSeconds: 120 },
    ),
    needs: 'websocket',
  },
  'socket-silent': {
    ...accepted(
      { faults: [{ ...toSockets, act: { kind: 'half-open', maxSeconds: 300 } }] },
      { client: 'restart' },
      { await: 'websocket' },
      { idleSeconds: 180 },
    ),
    needs: 'websocket',
  },
  'socket-closed': {
    ...accepted(
      { faults: [{ ...toPolls, act: 'revoke-token' }] },
      { await: 'sign-in with a token' },
      {
        faults: [
          {
            ...toSockets,
            script: [1001, 1008, 1011, 1012].map((code) => ({ kind: 'close-socket', code })),
          },
        ],
      },
      { send: 'close' },
      { await: 'websocket' },
      { idleSeconds: 20 },
    ),
    needs: 'websocket',
  },
  'socket-wrong-accept': {
    ...accepted(
      { faults: [{ ...toSockets, act: 'wrong-accept' }] },
      { send: 'close' },
      { await: 'websocket request' },
      { idleSeconds: 10 },
    ),
    needs: 'websocket',
  },
  overload: accepted(
    {
      faults: [
        {
          ...toPolls,
          script: ['seconds', 'date', 'absent', 'zero', 'past-date', 'words'].map((retryAfter) => ({
            ...{ kind: 'rate-limited', retryAfter, seconds: 3 },
          })),
        },
      ],
    },
    ...Array<Step>(6).fill({ await: 'poll' }),
    polls,
  ),
  outage: accepted(
    { faults: [{ ...toPolls, script: sixFailures }] },
    { await: 'poll with an answer 200 or 204', intervals: 20 },
  ),
  'sign-in-outage': accepted(
    {
      faults: [
        { ...toPolls, act: 'revoke-token' },
        { ...toSignIns, script: sixFailures },
      ],
    },
    { await: 'sign-in with a token', intervals: 20 },
    polls,
  ),
  'odd-errors': accepted(
    {
      // A good answer follows each error, since the pauses of a client may grow with each.
      faults: oddBodies.map((body, index) => ({
        match: { operation: pollOperations, nthCall: 2 * index + 1 },
        act: { kind: 'answer', status: 500, body },
      })),
    },
    ...Array<Step>(2 * oddBodies.length).fill({ await: 'poll' }),
    polls,
  ),
  'bad-request': accepted(
    { faults: [{ ...toPolls, times: { next: 2 }, act: { kind: 'answer', status: 400 } }] },
    { await: 'poll' },
    { await: 'poll' },
    polls,
  ),
  'tls-untrusted': refusedAt(
    { startAt: 'expired' },
    { startAt: 'wrongHost' },
    { startAt: 'unknownCa' },
    { startAt: 'selfSigned' },
  ),
  'tls-old-version': refusedAt({ startAt: 'oldProtocol' }),
  'tls-absent': refusedAt({ startAt: 'no-tls' }),
} as const satisfies Partial<Record<SceneName, SceneRow>>;

/** The scene in which the interval is measured and the capabilities are found. */
export const FIRST = 'ordinary-traffic';

/** Why a scene cannot be played, for the report: its duties stay without a verdict. */
export const notRun = {
  'power-cut': 'played as the table of moments: give --cuts',
  'compressed-download': 'the server sends no file with Content-Encoding',
  'large-artifact': 'a file of more than 2 GiB takes too long for a programme',
  monitor: 'only the author can let a monitored service fail',
  'restart-of-many': 'one client at a time is examined',
} as const satisfies Record<Exclude<SceneName, keyof typeof scenes>, string>;

/** All scenes, in the order in which they are played. */
export const allScenes: readonly Scene[] = Object.entries(scenes).map(([name, row]) => ({
  name,
  ...row,
}));

/** Holds a download when this part of the file was sent. */
function heldDownload(part: number) {
  return { match: { operation: downloadOperations }, when: 'body', part } as const;
}

/**
 * Returns the scenes that cut the client at every moment that the protocol shows.
 * @param reports the statuses that the client reports in an update, in their order
 */
export function cutScenes(reports: readonly string[]): readonly Scene[] {
  const held = reports.flatMap((report): Moment[] =>
    (['before', 'after'] as const).map((when) => ({
      name: `${when} "${report}" is stored, without an answer`,
      hold: { match: { operation: 'put-deployment-status', report }, when },
    })),
  );
  const parts: readonly (readonly [part: number, name: string])[] = [
    [0, 'at the first byte of the download'],
    [0.1, 'at a tenth of the download'],
    [0.5, 'at half of the download'],
    [1, 'before the last byte of the download'],
  ];
  const moments: readonly Moment[] = [
    ...parts.map(([part, name]) => ({ name, hold: heldDownload(part) })),
    { name: 'after the whole download', after: 'whole download' },
    ...held,
    ...(reports.includes('rebooting')
      ? [{ name: 'after "rebooting" was answered', after: 'report of a reboot' } as const]
      : []),
  ];
  const inLog: Moment = {
    name: 'in the upload of the log',
    hold: { ...toLogs, when: 'before' },
  };
  return [
    ...moments.map((cut) => ({ name: `cut ${cut.name}`, ...accepted(deploy, { cut }, ends) })),
    { name: `cut ${inLog.name}`, ...accepted(damaged, deploy, { cut: inLog }, ends) },
  ];
}
