/** Scenes of a server that is busy, fails, or answers errors of any form. */
import type { SceneName } from '../../../conformance/client-judge/scene-names.ts';
import { pollOperations } from '../../../fixtures/contract/operations.ts';
import type { Step } from '../scene.ts';
import { acceptedStart, awaitPoll, outageActions, type SceneRow, toPolls } from './steps.ts';

const oddBodies = [
  'empty',
  'html',
  'object-error',
  'cut-json',
  { text: 'x'.repeat(65_536), mediaType: 'text/plain' },
];

export const failureScenes = {
  overload: acceptedStart(
    {
      faults: [
        {
          ...toPolls,
          script: ['seconds', 'date', 'absent', 'zero', 'past-date', 'words'].map((retryAfter) => ({
            // A date is rounded to seconds, so that a short wait would prove nothing.
            kind: 'rate-limited',
            retryAfter,
            seconds: retryAfter === 'date' ? 8 : 3,
          })),
        },
      ],
    },
    ...Array<Step>(6).fill({ await: 'poll' }),
    awaitPoll,
  ),
  outage: acceptedStart(
    { faults: [{ ...toPolls, script: outageActions }] },
    { await: 'poll with a response 200 or 204', intervals: 20 },
  ),
  'error-bodies': acceptedStart(
    {
      // A success follows each error, since the pauses of a client may grow with each.
      faults: oddBodies.map((body, index) => ({
        match: { operation: pollOperations, nthCall: 2 * index + 1 },
        act: { kind: 'respond', status: 500, body },
      })),
    },
    ...Array<Step>(2 * oddBodies.length).fill({ await: 'poll' }),
    awaitPoll,
  ),
  'bad-request': acceptedStart(
    { faults: [{ ...toPolls, times: { next: 2 }, act: { kind: 'respond', status: 400 } }] },
    { await: 'poll' },
    { await: 'poll' },
    awaitPoll,
  ),
} as const satisfies Partial<Record<SceneName, SceneRow>>;
