/** Defects in server faults, and in rate limiting. Spec: Errors, "Common statuses" */
import { ownResponse, tokenOf } from '../alter.ts';
import { statusBecomes } from '../alterations.ts';
import type { Alteration, Defect } from '../defect.ts';

/** Refuses every request of a caller once the caller has been rate limited. */
function refuseForever(): Alteration {
  const limitedTokens = new Set<string>();
  return {
    response: (response, request) => {
      const token = tokenOf(request);
      if (response.status === 429) limitedTokens.add(token);
      else if (limitedTokens.has(token))
        return ownResponse(429, { error: 'you sent too many requests once' });
      return response;
    },
  };
}

export const faultDefects: readonly Defect[] = [
  {
    id: 'fault-inside-is-502',
    title: 'An internal failure is answered with 502.',
    violates: ['errors.unexpected-is-500'],
    operations: 'all',
    alter: statusBecomes(500, 502),
  },
  {
    id: 'fault-inside-is-a-success-of-inventory',
    title: 'An internal failure is answered with 200 when a device sends its inventory.',
    violates: ['errors.unexpected-is-500'],
    operations: ['put-attributes'],
    alter: statusBecomes(500, 200),
  },
  {
    id: 'fault-inside-is-the-fault-of-a-socket',
    title: 'An internal failure is answered with 400 when a device opens a WebSocket.',
    violates: ['errors.unexpected-is-500'],
    operations: ['connect'],
    alter: statusBecomes(500, 400),
  },
  {
    id: 'haste-is-503',
    title: 'A caller beyond the rate limit is answered with 503.',
    violates: ['errors.too-many-requests-is-429'],
    operations: 'all',
    alter: statusBecomes(429, 503),
  },
  {
    id: 'haste-is-400-on-export',
    title: 'A user who exports the audit log beyond the rate limit is answered with 400.',
    violates: ['errors.too-many-requests-is-429'],
    operations: ['export-audit-logs'],
    alter: statusBecomes(429, 400),
  },
  {
    id: 'haste-is-never-forgotten',
    title: 'A device that once exceeded the rate limit is always refused.',
    violates: ['errors.slowed-down-is-served'],
    operations: ['get-next-deployment'],
    alter: refuseForever,
  },
];
