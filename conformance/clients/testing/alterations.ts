/**
 * Badly written clients: for each duty, what one of them does instead of the good client, and which
 * other duties that breaks as a consequence.
 */

import { generateKeyPairSync } from 'node:crypto';
import { rsaKeyOf } from '../../signing/rsa.ts';
import {
  deviceKey,
  linkOf,
  message,
  otherKey,
  type Request,
  request,
  type Step,
  signIn,
} from './good-life.ts';

/** Returns the steps of the bad client. The steps of the good one may be changed in place. */
type Alter = (steps: Step[]) => Step[];

export interface Alteration {
  readonly duty: string;
  /** What the client does, for the title of the test. */
  readonly does: string;
  readonly alter: Alter;
  /** Duties that the same mistake breaks as well. */
  readonly consequences?: readonly string[];
}

const named = (pattern: string | RegExp) => (step: Step) =>
  typeof pattern === 'string' ? step.label === pattern : pattern.test(step.label);

/** Changes the requests with a label. */
function edit(pattern: string | RegExp, change: (step: Request) => void): Alter {
  return (steps) => {
    for (const step of steps.filter(named(pattern))) if (step.kind === 'request') change(step);
    return steps;
  };
}

function drop(pattern: string | RegExp): Alter {
  return (steps) => steps.filter((step) => !named(pattern)(step));
}

/** Puts steps behind the one with the label; `make` gets a copy of that request. */
function insert(label: string, make: (copy: Request) => readonly Step[]): Alter {
  return (steps) =>
    steps.flatMap((step) =>
      step.label === label ? [step, ...make(copyOf(step as Request))] : [step],
    );
}

function all(...changes: readonly Alter[]): Alter {
  return (steps) => changes.reduce((before, change) => change(before), steps);
}

function copyOf(step: Request): Request {
  return { ...step, headers: { ...step.headers }, answerHeaders: { ...step.answerHeaders } };
}

function repeated(label: string, count: number, more: Partial<Request> = {}): Alter {
  return insert(label, (copy) =>
    Array.from({ length: count }, () => ({ ...copyOf(copy), ...more })),
  );
}

/** Changes a member of the body of a request. */
function body(pattern: string | RegExp, change: (sent: Record<string, unknown>) => void): Alter {
  return edit(pattern, (step) => {
    const sent = structuredClone(step.sent) as Record<string, unknown>;
    change(sent);
    step.sent = sent;
  });
}

function provides(pattern: string | RegExp, values: Record<string, unknown>): Alter {
  return body(pattern, (sent) => Object.assign(sent.device_provides as object, values));
}

/** Signs in with another body. */
function signingIn(
  pattern: string | RegExp,
  change: (sent: Record<string, unknown>) => void,
  signer = deviceKey,
): Alter {
  return (steps) =>
    steps.map((step) => {
      if (!named(pattern)(step) || step.kind !== 'request') return step;
      const sent = JSON.parse(String(step.sent)) as Record<string, unknown>;
      change(sent);
      const { headers: _, ...rest } = step;
      return signIn(step.label, { ...rest, sent: JSON.stringify(sent) }, signer);
    });
}

const weak = rsaKeyOf(generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey);
const afterFailure =
  /^f[123]: poll|^f[23]: offer|idle again|^c1: (offer|poll)|before map|^m1: offer/;
const everySignIn = /^pending|token/;

const authentication: readonly Alteration[] = [
  {
    duty: 'auth.signs-exact-bytes',
    does: 'signs the body without the line end that it sends',
    alter: edit('first token', (step) => {
      step.sent = `${String(step.sent)}\n`;
    }),
  },
  {
    duty: 'auth.key-supported',
    does: 'sends its key as PKCS #1',
    alter: signingIn(everySignIn, (sent) => {
      sent.pubkey = String(sent.pubkey).replaceAll('PUBLIC KEY', 'RSA PUBLIC KEY');
    }),
  },
  {
    duty: 'auth.key-strong',
    does: 'has an RSA key of 1024 bits',
    alter: signingIn(
      everySignIn,
      (sent) => {
        sent.pubkey = weak.publicKeyPem;
      },
      weak,
    ),
  },
  {
    duty: 'auth.body-fields',
    does: 'sends its identity as an object instead of a string',
    alter: signingIn('first token', (sent) => {
      sent.id_data = { mac: '02:00:00:00:00:01' };
    }),
  },
  {
    duty: 'auth.identity-stable',
    does: 'writes the time into its identity',
    alter: signingIn('d4: token', (sent) => {
      sent.id_data = '{"mac":"02:00:00:00:00:01","time":2}';
    }),
  },
  {
    duty: 'auth.key-survives-restart',
    does: 'makes a new key at a restart',
    alter: signingIn(
      'pending after restart',
      (sent) => {
        sent.pubkey = otherKey.publicKeyPem;
      },
      otherKey,
    ),
  },
  {
    duty: 'auth.identity-unique',
    does: 'uses two keys in turn under one identity',
    alter: signingIn(
      /^pending [13]|^d4: token/,
      (sent) => {
        sent.pubkey = otherKey.publicKeyPem;
      },
      otherKey,
    ),
    consequences: ['auth.key-survives-restart'],
  },
  {
    duty: 'auth.sends-only-public',
    does: 'sends its private key',
    alter: edit('first token', (step) => {
      const sent = JSON.parse(String(step.sent));
      sent.pubkey = `-----BEGIN PRIVATE KEY-----\nMC4=\n-----END PRIVATE KEY-----\n`;
      step.sent = JSON.stringify(sent);
    }),
  },
  {
    duty: 'auth.one-at-a-time',
    does: 'sends two sign-ins at once',
    alter: edit('pending 2', (step) => {
      step.afterMs = -40;
    }),
  },
  {
    duty: 'auth.polite-while-pending',
    does: 'asks every 300 ms while pending',
    alter: repeated('pending 2', 6, { afterMs: 300 }),
  },
  {
    duty: 'auth.stops-hammering-when-rejected',
    does: 'asks ever faster',
    alter: insert('pending 2', (copy) =>
      [8000, 3900, 1900, 1000].map((afterMs) => ({ ...copyOf(copy), afterMs })),
    ),
  },
  {
    duty: 'auth.reads-token-plain',
    does: 'leaves quotes around the token',
    alter: edit('idle 2', (step) => {
      step.headers.Authorization = step.headers.Authorization?.replace(/ (.*)/, ' "$1"') ?? '';
    }),
  },
  {
    duty: 'auth.renews-on-401',
    does: 'repeats a poll that was answered 401',
    alter: repeated('revoked', 4),
  },
  {
    duty: 'auth.renews-on-expiry',
    does: 'repeats a poll with an expired token',
    alter: repeated('expired', 4),
    consequences: ['auth.renews-on-401'],
  },
  {
    duty: 'auth.new-token-used',
    does: 'goes on with the token that was replaced',
    alter: (steps) => {
      const before = steps.find(named('expired')) as Request;
      return insert('poll after expiry', (copy) =>
        [1, 2, 3, 4].map(() => ({ ...copyOf(copy), headers: { ...before.headers } })),
      )(steps);
    },
  },
  {
    duty: 'auth.survives-503',
    does: 'retries a failed sign-in every 200 ms',
    alter: insert('pending 3', (copy) =>
      [1, 2, 3, 4, 5, 6].map((at) => ({
        ...copyOf(copy),
        status: 503,
        afterMs: at === 1 ? 10_000 : 200,
      })),
    ),
  },
  {
    duty: 'auth.survives-503',
    does: 'retries a failed sign-in every 1.5 s',
    alter: insert('pending 3', (copy) =>
      Array.from({ length: 8 }, () => ({ ...copyOf(copy), status: 503, afterMs: 1500 })),
    ),
  },
  {
    duty: 'auth.tenant-token-kept',
    does: 'forgets its tenant token',
    alter: signingIn('d4: token', (sent) => {
      sent.tenant_token = undefined;
    }),
  },
];

/** Lets the steps after one label and up to another one be a scene of the examination. */
function scene(name: string, after: string, upTo: string): Alter {
  const act = { kind: 'act', client: 'device-1', afterMs: 10, subject: name } as const;
  return all(
    insert(after, () => [{ ...act, label: 'scene began', act: 'scene-began' }]),
    insert(upTo, () => [{ ...act, label: 'scene ended', act: 'scene-ended' }]),
  );
}

const polling: readonly Alteration[] = [
  {
    duty: 'next.tolerates-unknown-members',
    does: 'fails an update whose offer has a member that it does not know',
    alter: all(
      scene('legal-variations', 'd5: inventory', 'f1: poll after'),
      edit('f1: offer', (step) => Object.assign(step.answer as object, { unknown: 1 })),
    ),
  },
  {
    duty: 'next.mandatory-keys',
    does: 'leaves out its device type',
    alter: body('idle 2', (sent) => {
      sent.device_provides = { artifact_name: 'one' };
    }),
  },
  {
    duty: 'next.provides-are-strings',
    does: 'sends a number among its pairs',
    alter: provides('idle 2', { 'rootfs.checksum': 7 }),
  },
  {
    duty: 'next.request-stable',
    does: 'changes its pairs while a deployment is active',
    alter: provides('d4: offer again', { 'rootfs.checksum': 'c1' }),
  },
  {
    duty: 'next.name-follows-update',
    does: 'polls with the former name after success',
    alter: all(drop('d1: inventory'), provides('d1: poll after', { artifact_name: 'one' })),
  },
  {
    duty: 'next.name-follows-update',
    does: 'polls at once after success with the former name, and goes on with it',
    alter: all(
      drop('d1: inventory'),
      provides('d1: poll after', { artifact_name: 'one' }),
      edit('d1: poll after', (step) => {
        step.afterMs = 300;
      }),
      repeated('d1: poll after', 2, { afterMs: 10_000 }),
    ),
  },
  {
    duty: 'next.accepts-204',
    does: 'signs in after each 204',
    alter: (steps) => {
      const token = steps.find(named('first token')) as Request;
      return steps.flatMap((step) =>
        /^idle \d/.test(step.label)
          ? [step, { ...copyOf(token), label: 'again', afterMs: 300 }]
          : [step],
      );
    },
  },
  {
    duty: 'next.not-faster-than-a-second',
    does: 'polls every 300 ms',
    alter: repeated('idle 3', 12, { afterMs: 300 }),
  },
  {
    duty: 'next.v2-falls-back',
    does: 'stays with version 2 although it is absent',
    alter: repeated('v2 absent', 3),
  },
  {
    duty: 'next.checks-device-type',
    does: 'installs an artifact for another type',
    alter: all(
      insert('f3: offer', () => [download('f3')]),
      body('f3: failure', (sent) => {
        sent.status = 'success';
      }),
      drop('f3: log'),
      provides(/^f3: poll|idle again|^c1: (offer|poll)|before map|^m1: offer/, {
        artifact_name: 'other',
      }),
    ),
  },
  {
    duty: 'next.409-handled',
    does: 'repeats a poll that met a 409 every 100 ms',
    alter: repeated('idle 3', 5, { afterMs: 100, status: 409, answer: { error: 'conflict' } }),
  },
  {
    duty: 'next.continues',
    does: 'only polls while its deployment is offered again',
    alter: all(
      repeated('d4: offer again', 8),
      drop(/^d4: (success|inventory)/),
      provides('d4: poll after', { artifact_name: 'four' }),
    ),
  },
];

/** A download of a whole file. */
function download(id: string, more: Partial<Request> = {}): Request {
  return request(`${id}: download`, 'download-artifact', {
    ...{ id, afterMs: 200, status: 200, responseBytes: 400_000 },
    origin: 'https://files.example',
    target: linkOf(id).slice('https://files.example'.length),
    answerHeaders: { 'Content-Length': '400000', ETag: `"${id}"` },
    ...more,
  });
}

const downloading: readonly Alteration[] = [
  {
    duty: 'get.uses-given-uri',
    does: 'appends a parameter to the link',
    alter: edit('d2: download', (step) => {
      step.target = `${step.target}&device=1`;
    }),
  },
  {
    duty: 'get.method-get',
    does: 'asks for the length by HEAD',
    alter: insert('d2: downloading', () => [download('d2', { method: 'HEAD', responseBytes: 0 })]),
  },
  {
    duty: 'get.no-token-to-other-hosts',
    does: 'sends its token to the storage',
    alter: edit('d2: download', (step) => {
      step.headers.Authorization = 'Bearer secret';
    }),
  },
  {
    duty: 'get.follows-redirect',
    does: 'fails at a redirect',
    alter: all(
      drop(/^d3: (download|inventory)/),
      body('d3: success', (sent) => {
        sent.status = 'failure';
      }),
      provides(/^d3: poll|^d4: offer/, { artifact_name: 'three' }),
      insert('d3: success', (copy) => [logOf(copy, 'd3')]),
    ),
  },
  {
    duty: 'get.resumes',
    does: 'resumes one byte too far',
    alter: edit('d1: resumed', (step) => {
      step.headers.Range = 'bytes=200001-';
      step.answerHeaders['Content-Range'] = 'bytes 200001-399999/400000';
    }),
    consequences: ['get.short-body'],
  },
  {
    duty: 'get.resumes',
    does: 'begins anew after each cut',
    alter: edit('d1: resumed', (step) => {
      step.headers = {};
      Object.assign(step, { status: 200, responseBytes: 400_000 });
      step.answerHeaders = { 'Content-Length': '400000', ETag: '"d1"' };
    }),
  },
  {
    duty: 'get.checks-206',
    does: 'installs a part that began elsewhere',
    alter: edit('d1: resumed', (step) => {
      step.answerHeaders['Content-Range'] = 'bytes 100000-299999/400000';
    }),
  },
  {
    duty: 'get.validator-changed',
    does: 'joins the parts of two files',
    alter: edit('d1: resumed', (step) => {
      step.answerHeaders.ETag = '"other"';
    }),
  },
  {
    duty: 'get.short-body',
    does: 'installs a file without its end',
    alter: drop('d1: resumed'),
  },
  {
    duty: 'get.checksum',
    does: 'installs a file with altered bytes',
    alter: all(
      body('f1: failure', (sent) => {
        sent.status = 'success';
      }),
      provides(afterFailure, { artifact_name: 'bad' }),
    ),
    consequences: ['inventory.after-update'],
  },
  {
    duty: 'get.size-limits',
    does: 'installs a file that went on past its end',
    alter: all(
      edit('f1: download', (step) => {
        step.interference = ['over-long'];
      }),
      body('f1: failure', (sent) => {
        sent.status = 'success';
      }),
      provides(afterFailure, { artifact_name: 'bad' }),
    ),
    consequences: ['inventory.after-update'],
  },
  {
    duty: 'get.expired-link',
    does: 'uses a refused link again and again',
    alter: insert('d2: downloading', () =>
      Array.from({ length: 4 }, () =>
        download('d2', { status: 403, responseBytes: 0, afterMs: 61_000 }),
      ),
    ),
  },
  {
    duty: 'get.once',
    does: 'fetches the file three times',
    alter: repeated('d2: download', 2),
  },
  {
    duty: 'get.fresh-link',
    does: 'uses the link of an earlier offer',
    alter: all(
      edit('d4: offer again', (step) => {
        const answer = structuredClone(step.answer) as { artifact: { source: { uri: string } } };
        answer.artifact.source.uri += '&n=2';
        step.answer = answer;
      }),
      insert('d4: offer again', () => [download('d4', { afterMs: 5000 })]),
    ),
  },
  {
    duty: 'get.bounded-retries',
    does: 'tries a download that fails sixty times',
    alter: insert('d2: downloading', () =>
      Array.from({ length: 60 }, () =>
        download('d2', { status: 404, responseBytes: 0, afterMs: 61_000 }),
      ),
    ),
  },
];

function logOf(copy: Request, id: string, more: Partial<Request> = {}): Request {
  const line = { timestamp: '2026-01-31T12:00:00Z', level: 'error', message: 'failed' };
  const { headers } = copy;
  return request('log', 'put-deployment-log', {
    id,
    headers,
    afterMs: 300,
    sent: { messages: [line] },
    ...more,
  });
}

const reporting: readonly Alteration[] = [
  {
    duty: 'report.final',
    does: 'begins the next deployment without a final status',
    alter: all(
      drop(/^d1: success/),
      provides('d1: poll after', { artifact_name: 'one' }),
      drop('d1: poll after'),
      provides('d2: offer', { artifact_name: 'one' }),
    ),
  },
  {
    duty: 'report.second-deployment',
    does: 'reports on the former deployment',
    alter: edit('d2: downloading', (step) => {
      step.id = 'd1';
    }),
    consequences: ['report.final-once'],
  },
  {
    duty: 'report.no-loop',
    does: 'fetches a failed deployment again',
    alter: insert('f1: log', () => [download('f1', { afterMs: 4000 })]),
  },
  {
    duty: 'report.final-once',
    does: 'reports downloading after success',
    alter: insert('d1: success', (copy) => [
      { ...copy, label: 'again', sent: { status: 'downloading' } },
    ]),
  },
  {
    duty: 'report.final-once',
    does: 'reports failure after success',
    alter: insert('d1: success', (copy) => [
      { ...copy, label: 'again', sent: { status: 'failure' } },
      logOf(copy, 'd1'),
      { ...copyOf(copy), label: 'once more' },
    ]),
  },
  {
    duty: 'report.vocabulary',
    does: 'reports a status of its own',
    alter: body('d2: installing', (sent) => {
      sent.status = 'verifying';
    }),
  },
  {
    duty: 'report.shape',
    does: 'reports a substate that is a number',
    alter: body('d2: installing', (sent) => {
      sent.substate = 3;
    }),
  },
  {
    duty: 'report.own-deployment',
    does: 'reports on a deployment that it was not given',
    alter: insert('d2: installing', (copy) => [
      { ...copy, label: 'foreign', id: 'x9', status: 404 },
    ]),
  },
  {
    duty: 'report.success-only-if-installed',
    does: 'reports success without a download',
    alter: drop('d2: download'),
  },
  {
    duty: 'report.retries-final',
    does: 'forgets a report that failed',
    alter: all(
      drop(/^d2: (success|inventory)/),
      provides('d2: poll after', { artifact_name: 'two' }),
      repeated('d2: poll after', 5),
    ),
  },
  {
    duty: 'report.retries-final',
    does: 'drops a final status that was answered 401',
    alter: all(
      edit('d2: lost', (step) => {
        step.status = 401;
      }),
      insert('d2: lost', (copy) => {
        const token = copy.headers.Authorization?.slice('Bearer '.length);
        return [signIn('new token', { status: 200, answer: token, afterMs: 20_000 })];
      }),
      drop(/^d2: (success|inventory)/),
      provides('d2: poll after', { artifact_name: 'two' }),
      repeated('d2: poll after', 5),
    ),
  },
  {
    duty: 'report.retries-bounded-rate',
    does: 'repeats a report that failed every 1.5 s',
    alter: repeated('d2: lost', 7, { afterMs: 1500 }),
  },
  {
    duty: 'report.retries-bounded-rate',
    does: 'repeats a report that failed every 200 ms',
    alter: repeated('d2: lost', 5, { afterMs: 200 }),
  },
  {
    duty: 'report.stops-at-409',
    does: 'downloads after the abort',
    alter: insert('f2: installing', () => [download('f2', { afterMs: 4000 })]),
  },
  {
    duty: 'report.stops-at-409',
    does: 'reports success after the abort, and polls with the new name',
    alter: all(
      insert('f2: installing', (copy) => [
        { ...copyOf(copy), label: 'f2: success', sent: { status: 'success' } },
      ]),
      provides('f2: poll after', { artifact_name: 'aborted' }),
    ),
  },
  {
    duty: 'report.409-ends-reporting',
    does: 'reports on after the abort',
    alter: repeated('f2: installing', 3),
  },
  {
    duty: 'report.404-handled',
    does: 'reports on a deployment that is gone',
    alter: repeated('d2: installing', 5, { status: 404 }),
  },
  {
    duty: 'report.no-false-success-after-cut',
    does: 'reports success although the cut left the file in parts',
    alter: edit('d4: download', (step) => {
      Object.assign(step, { responseBytes: 100_000, isDelivered: false });
    }),
  },
];

const resources: readonly Alteration[] = [
  {
    duty: 'log.shape',
    does: 'writes times without a zone',
    alter: body('f1: log', (sent) => {
      sent.messages = [{ timestamp: '2026-01-31 12:00:00', level: 'e', message: 'm' }];
    }),
  },
  {
    duty: 'log.not-empty',
    does: 'uploads an empty log',
    alter: body('f1: log', (sent) => {
      sent.messages = [];
    }),
  },
  {
    duty: 'log.no-secrets',
    does: 'writes its token into the log',
    alter: body('f1: log', (sent) => {
      const message = 'Authorization: Bearer eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJkIn0.c2ln';
      sent.messages = [{ timestamp: '2026-01-31T12:00:00Z', level: 'e', message }];
    }),
  },
  {
    duty: 'log.limit',
    does: 'uploads 2 MiB',
    alter: body('f1: log', (sent) => {
      sent.messages = [
        { timestamp: '2026-01-31T12:00:00Z', level: 'e', message: 'm'.repeat(2 ** 21) },
      ];
    }),
  },
  {
    duty: 'log.on-failure',
    does: 'uploads no log',
    alter: all(drop('f1: log'), repeated('f1: poll after', 12)),
  },
  {
    duty: 'log.on-failure',
    does: 'drops a log that was answered 401',
    alter: all(
      edit('f1: log', (step) => {
        step.status = 401;
      }),
      insert('f1: log', (copy) => {
        const token = copy.headers.Authorization?.slice('Bearer '.length);
        return [signIn('new token', { status: 200, answer: token, afterMs: 20_000 })];
      }),
      repeated('f1: poll after', 12),
    ),
  },
  {
    duty: 'log.413-stops',
    does: 'sends a log once more that was too large',
    alter: insert('f1: poll after', (copy) =>
      [1, 2].map((each) =>
        logOf(copy, 'f1', { label: `log ${each}`, status: 413, afterMs: 10_000 }),
      ),
    ),
  },
  {
    duty: 'log.413-stops',
    does: 'repeats a log that was too large',
    alter: repeated('f1: log', 4, { status: 413, afterMs: 2000 }),
  },
  {
    duty: 'inventory.types',
    does: 'sends a boolean',
    alter: edit('first inventory', (step) => {
      step.sent = [...(step.sent as unknown[]), { name: 'b', value: true }];
    }),
  },
  {
    duty: 'inventory.names',
    does: 'sends an attribute without a name',
    alter: edit('first inventory', (step) => {
      step.sent = [...(step.sent as unknown[]), { value: 'x' }];
    }),
  },
  {
    duty: 'inventory.names-once',
    does: 'sends a name twice',
    alter: edit('first inventory', (step) => {
      const [first, ...rest] = step.sent as unknown[];
      step.sent = [first, first, ...rest];
    }),
  },
  {
    duty: 'inventory.bounded',
    does: 'sends 150 attributes',
    alter: edit('m1: inventory', (step) => {
      const more = Array.from({ length: 150 }, (_, at) => ({ name: `n${at}`, value: at }));
      step.sent = [...(step.sent as unknown[]), ...more];
    }),
  },
  {
    duty: 'inventory.device-type-agrees',
    does: 'states another type in its inventory',
    alter: edit('d1: inventory', (step) => {
      step.sent = [{ name: 'device_type', value: 'Board' }, ...(step.sent as unknown[]).slice(1)];
    }),
  },
  {
    duty: 'inventory.types-stable',
    does: 'sends a number as a string the second time',
    alter: edit('d1: inventory', (step) => {
      const [type, name, , addresses] = step.sent as unknown[];
      step.sent = [type, name, { name: 'cpu_load', value: '0.42' }, addresses];
    }),
  },
  {
    duty: 'inventory.types-stable',
    does: 'sends a number as a string by PATCH',
    alter: insert('d1: inventory', (copy) => [
      {
        ...{ ...copy, label: 'patch', operation: 'patch-attributes' },
        sent: [{ name: 'cpu_load', value: '0.42' }],
      },
    ]),
  },
  {
    duty: 'inventory.put-keeps-names',
    does: 'sends one changed attribute by PUT',
    alter: edit('d1: inventory', (step) => {
      step.sent = [{ name: 'cpu_load', value: 0.5 }];
    }),
  },
  {
    duty: 'inventory.after-update',
    does: 'sends no inventory after an update',
    alter: all(drop(/^d\d: inventory/), repeated('d3: poll after', 12)),
  },
  {
    duty: 'inventory.on-acceptance',
    does: 'sends its first inventory after twenty polls',
    alter: all(drop('first inventory'), repeated('idle 2', 14)),
  },
  {
    duty: 'config.strings',
    does: 'reports a number in its configuration',
    alter: body('c1: configuration', (sent) => {
      sent.interval = 60;
    }),
  },
  {
    duty: 'config.reports-after-apply',
    does: 'does not report its configuration',
    alter: all(drop('c1: configuration'), repeated('c1: poll after', 12)),
  },
  {
    duty: 'alert.shape',
    does: 'sends an alert without its subject',
    alter: edit('alert', (step) => {
      step.sent = [{ name: 'a', level: 'OK', timestamp: '2026-01-31T12:05:00Z' }];
    }),
  },
  {
    duty: 'alert.no-flood',
    does: 'repeats an alert in 100 ms',
    alter: repeated('alert', 2, { afterMs: 100 }),
  },
  {
    duty: 'alert.clock-set',
    does: 'sends an alert of 1970',
    alter: edit('alert', (step) => {
      const [first] = step.sent as object[];
      step.sent = [{ ...first, timestamp: '1970-01-01T00:01:12Z' }];
    }),
  },
  {
    duty: 'monitor.config-shape',
    does: 'leaves out the type of a monitor',
    alter: edit('monitors', (step) => {
      step.sent = [{ name: 'sshd', status: 'enabled' }];
    }),
  },
  {
    duty: 'map.announced-only-if-kept',
    does: 'goes on where the map pauses',
    alter: drop(/^m1: (pause|map)/),
  },
  {
    duty: 'map.reports-pause',
    does: 'pauses without a report',
    alter: drop('m1: pause'),
  },
  {
    duty: 'map.404-ends',
    does: 'fetches a map that is gone again and again',
    alter: repeated('m1: map', 5, { status: 404, answer: { error: 'not found' } }),
  },
];

const socketsAndHttp: readonly Alteration[] = [
  {
    duty: 'connect.handshake',
    does: 'asks for version 8',
    alter: edit('connect 1', (step) => {
      step.headers['Sec-WebSocket-Version'] = '8';
    }),
  },
  {
    duty: 'connect.key-fresh',
    does: 'uses one key for all handshakes',
    alter: edit('connect 2', (step) => {
      step.headers['Sec-WebSocket-Key'] = Buffer.alloc(16, 1).toString('base64');
    }),
  },
  {
    duty: 'connect.masks',
    does: 'sends frames without a mask',
    alter: socket('shell answer', { violation: 'the frame is not masked' }),
  },
  {
    duty: 'connect.pong',
    does: 'answers a ping with other bytes',
    alter: socket('pong', { payload: Buffer.from('x') }),
  },
  {
    duty: 'connect.close-handshake',
    does: 'closes with the code 1015',
    alter: socket('last close', { code: 1015 }),
  },
  {
    duty: 'connect.messages',
    does: 'makes up the id of a session',
    alter: socket('shell answer', { payload: message(1, 'new', 'made-up') }),
  },
  {
    duty: 'connect.messages',
    does: 'sends JSON instead of msgpack',
    alter: socket('shell answer', { payload: Buffer.from('{"hdr":{"proto":1}}') }),
  },
  {
    duty: 'connect.check-update',
    does: 'polls half a minute after check-update',
    alter: edit('poll after check-update', (step) => {
      step.afterMs = 30_000;
    }),
  },
  {
    duty: 'connect.one-socket',
    does: 'keeps the older websocket',
    alter: (steps) => {
      const close = steps.find(named('close'));
      const late: Step[] = [
        {
          kind: 'socket',
          label: 'late',
          event: 'message',
          from: 'device',
          socket: 's1',
          payload: message(1, 'new', 'session-1'),
          afterMs: 20_000,
        },
      ];
      return steps
        .filter((step) => step !== close)
        .flatMap((step) => (step.label === 'connect 2: opened' ? [step, ...late] : [step]));
    },
  },
  {
    duty: 'connect.backoff',
    does: 'reconnects every 2 s',
    alter: (steps) => {
      const first = steps.find(named('connect 1')) as Request;
      const tries = Array.from({ length: 8 }, (_, at) => ({
        ...copyOf(first),
        ...{ label: `try ${at}`, status: 503, afterMs: 2000 },
        headers: {
          ...first.headers,
          'Sec-WebSocket-Key': Buffer.alloc(16, 50 + at).toString('base64'),
        },
      }));
      return steps.flatMap((step) => (step === first ? [...tries, step] : [step]));
    },
  },
  {
    duty: 'http.documented-operations',
    does: 'calls a path that does not exist',
    alter: edit('monitors', (step) => {
      step.target = '/api/devices/v1/devicemonitor/configuration';
      step.status = 404;
      step.answer = { error: 'not found' };
    }),
  },
  {
    duty: 'http.documented-operations',
    does: 'sends JSON as text',
    alter: edit('idle 2', (step) => {
      step.headers['Content-Type'] = 'text/plain';
    }),
  },
  {
    duty: 'http.bearer',
    does: 'sends its token without Bearer',
    alter: edit('idle 2', (step) => {
      step.headers.Authorization = step.headers.Authorization?.slice(7) ?? '';
    }),
  },
  {
    duty: 'http.valid-json',
    does: 'sends a byte order mark',
    alter: edit('idle 2', (step) => {
      step.sent = `\ufeff${JSON.stringify(step.sent)}`;
    }),
  },
  {
    duty: 'http.framing',
    does: 'states both lengths',
    alter: edit('idle 2', (step) => {
      step.headers['Transfer-Encoding'] = 'chunked';
    }),
  },
  {
    duty: 'http.host',
    does: 'sends no Host',
    alter: edit('idle 2', (step) => {
      step.headers.Host = '';
    }),
  },
  {
    duty: 'http.retry-after',
    does: 'polls before Retry-After is over',
    alter: edit('after busy', (step) => {
      step.afterMs = 5000;
    }),
  },
  {
    duty: 'http.backoff',
    does: 'polls every 1.5 s while the server fails',
    alter: edit(/^outage [2-8]/, (step) => {
      step.afterMs = 1500;
    }),
  },
  {
    duty: 'http.no-retry-on-400',
    does: 'repeats a refused request',
    alter: repeated('refused', 4, { afterMs: 5000 }),
  },
];

function socket(label: string, more: object): Alter {
  return (steps) => steps.map((step) => (step.label === label ? { ...step, ...more } : step));
}

/** Every badly written client. */
export const alterations: readonly Alteration[] = [
  ...authentication,
  ...polling,
  ...downloading,
  ...reporting,
  ...resources,
  ...socketsAndHttp,
];
