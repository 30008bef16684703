/** Scenes of WebSockets and TLS. */
import type { SceneName } from '../../../conformance/client-judge/scene-names.ts';
import type { Step } from '../scene.ts';
import { acceptedStart, awaitPoll, type SceneRow, toPolls } from './steps.ts';

const toSockets = { match: { operation: 'connect' } };

/** A step for each: the client starts with an empty folder at an address that it must refuse. */
const refusedAt = (...locations: readonly (Step & { startAt: unknown })[]): SceneRow => ({
  start: 'stopped',
  steps: locations,
  needs: 'tls',
  recovers: false,
});

export const connectionScenes = {
  websocket: {
    ...acceptedStart(
      { send: 'ping' },
      { idleSeconds: 2 },
      { send: 'fragments' },
      { send: 'unknown-message' },
      { idleSeconds: 2 },
      { user: 'checkUpdate' },
      awaitPoll,
    ),
    needs: 'websocket',
  },
  'socket-refused': {
    ...acceptedStart(
      { faults: [{ ...toSockets, times: { next: 7 }, act: 'refuse-socket' }] },
      { client: 'restart' },
      { idleSeconds: 120 },
    ),
    needs: 'websocket',
  },
  'socket-silent': {
    ...acceptedStart(
      { faults: [{ ...toSockets, act: { kind: 'half-open', maxSeconds: 300 } }] },
      { client: 'restart' },
      { await: 'websocket' },
      { idleSeconds: 180 },
    ),
    needs: 'websocket',
  },
  'socket-closed': {
    ...acceptedStart(
      { faults: [{ ...toPolls, act: 'revoke-token' }] },
      { await: 'authentication request with a token' },
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
    ...acceptedStart(
      { faults: [{ ...toSockets, act: 'wrong-accept' }] },
      { send: 'close' },
      { await: 'WebSocket request' },
      { idleSeconds: 10 },
    ),
    needs: 'websocket',
  },
  'tls-untrusted': refusedAt(
    { startAt: 'expired' },
    { startAt: 'wrongHost' },
    { startAt: 'unknownCa' },
    { startAt: 'selfSigned' },
  ),
  'tls-old-version': refusedAt({ startAt: 'oldProtocol' }),
  'tls-absent': refusedAt({ startAt: 'no-tls' }),
} as const satisfies Partial<Record<SceneName, SceneRow>>;
