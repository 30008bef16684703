/** Scenes of authentication: acceptance, rejection, tokens, and the clock. */
import type { SceneName } from '../../../conformance/client-judge/scene-names.ts';
import type { Step } from '../scene.ts';
import {
  acceptedStart,
  awaitFinalReport,
  awaitPoll,
  deploy,
  outageActions,
  type SceneRow,
  toPolls,
} from './steps.ts';

const DAY_SECONDS = 86_400;

const toAuthentication = { match: { operation: 'post-auth-request' } };

const jwt = 'application/jwt';

/** A token of 4 KB, by an algorithm that no server of the family uses. */
const longToken = [
  { alg: 'ES512', typ: 'JWT', kid: 'tested' },
  { sub: 'tested', 'x.unknown': 'x'.repeat(2900), exp: 4_102_444_800 },
  'a signature of another length',
]
  .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
  .join('.');

/** A client that gives up does so after a few refusals. */
const PENDING_REFUSALS = 5;

export const authenticationScenes = {
  'ordinary-traffic': acceptedStart(...Array<Step>(4).fill({ await: 'poll without an update' })),
  'first-contact': {
    start: 'unknown',
    steps: [
      { await: 'refused authentication request' },
      { user: 'accept' },
      { await: 'authentication request with a token' },
    ],
  },
  pending: {
    start: 'unknown',
    steps: [
      ...Array<Step>(PENDING_REFUSALS).fill({ await: 'refused authentication request' }),
      { user: 'accept' },
      { await: 'authentication request with a token' },
    ],
  },
  'restart-while-pending': {
    start: 'unknown',
    steps: [
      { await: 'refused authentication request' },
      { client: 'restart' },
      { await: 'refused authentication request' },
      { user: 'accept' },
      { await: 'authentication request with a token' },
    ],
  },
  rejection: acceptedStart(
    { user: 'reject' },
    { await: 'refused authentication request' },
    { idleIntervals: 3 },
    { user: 'accept' },
    { await: 'authentication request with a token' },
  ),
  'token-expiry': acceptedStart(
    { advanceSeconds: 8 * DAY_SECONDS },
    { await: 'authentication request with a token' },
    awaitPoll,
    // A request that was in flight may still have the former token.
    awaitPoll,
    awaitPoll,
  ),
  revocation: acceptedStart(
    { faults: [{ ...toPolls, act: 'revoke-token' }] },
    { await: 'authentication request with a token' },
    awaitPoll,
  ),
  'other-token': {
    ...acceptedStart(
      {
        faults: [
          { ...toPolls, act: 'revoke-token' },
          // The server does not know this token: the client has to authenticate once more.
          {
            ...toAuthentication,
            act: { kind: 'respond', status: 200, body: { text: longToken, mediaType: jwt } },
          },
        ],
      },
      { await: 'authentication request with a token' },
      { await: 'authentication request with a token' },
      deploy,
      awaitFinalReport,
    ),
    server: { dialects: new Set(['rs256']) },
  },
  'clock-years-off': acceptedStart(
    { advanceSeconds: 9 * 365 * DAY_SECONDS },
    { await: 'authentication request with a token' },
    awaitPoll,
  ),
  'authentication-outage': acceptedStart(
    {
      faults: [
        { ...toPolls, act: 'revoke-token' },
        { ...toAuthentication, script: outageActions },
      ],
    },
    { await: 'authentication request with a token', intervals: 20 },
    awaitPoll,
  ),
} as const satisfies Partial<Record<SceneName, SceneRow>>;
