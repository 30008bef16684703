/** Planted defects of authentication and of tokens. */
import { objectOf, ownAnswer, tokenOf } from '../alter.ts';
import type { Defect, Plant } from '../defect.ts';
import { statusBecomes } from '../plants.ts';
import { requestFor } from '../requests.ts';

export const authenticationDefects: readonly Defect[] = [
  {
    id: 'first-contact-is-accepted',
    title: 'A device that nobody knows is accepted at its first request.',
    breaks: ['auth.first-contact-is-401', 'auth.undecided-is-401', 'auth.new-key-waits'],
    operations: ['post-auth-request'],
    plant: acceptsUndecided,
  },
  {
    id: 'missing-signature-is-401',
    title: 'A request without the signature header is answered 401 in place of 400.',
    breaks: ['auth.signature-header-is-required'],
    operations: ['post-auth-request'],
    plant: statusBecomes(400, 401, ({ headers }) =>
      Object.keys(headers).every((name) => !name.endsWith('-signature')),
    ),
  },
  {
    id: 'token-is-quoted',
    title: 'The token stands in quotes, as JSON.',
    breaks: ['auth.token-is-plain-text'],
    operations: ['post-auth-request'],
    plant: () => ({
      answer: (answer) =>
        answer.status === 200
          ? { ...answer, body: Buffer.from(JSON.stringify(answer.body.toString())) }
          : answer,
    }),
  },
  {
    id: 'missing-device-token-is-403',
    title: 'A device operation without a token is answered 403 in place of 401.',
    breaks: ['tokens.missing-is-401'],
    operations: 'all',
    plant: statusBecomes(
      401,
      403,
      (request) => tokenOf(request) === '' && request.operation !== 'post-auth-request',
    ),
  },
  {
    id: 'request-id-is-missing-in-errors',
    title: 'Error bodies have no request id.',
    breaks: ['errors.body-is-error', 'errors.request-id-of-the-caller'],
    operations: 'all',
    plant: () => ({
      answer: (answer) => {
        const { request_id: gone, ...rest } = objectOf(answer);
        if (answer.status < 400 || gone === undefined) return answer;
        return { ...answer, body: Buffer.from(JSON.stringify(rest)) };
      },
    }),
  },
  {
    id: 'alerts-of-any-token-are-taken',
    title: 'Alerts are taken under a token that is not valid.',
    breaks: ['tokens.invalid-is-401'],
    operations: ['post-alerts'],
    plant: () => ({
      answer: (answer, request) =>
        answer.status === 401 && tokenOf(request) !== '' ? ownAnswer(204) : answer,
    }),
  },
];

/** Accepts, as a user, whatever waits, and asks again. */
function acceptsUndecided(): Plant {
  return {
    answer: async (answer, request, ask) => {
      const { id_data: identity, pubkey } = objectOf(request);
      if (answer.status !== 401 || typeof identity !== 'string') return answer;
      const token = ask.userToken;
      const query = { status: 'pending', per_page: '500' };
      const waiting = await ask(requestFor('list-devices', { token, query }));
      for (const device of JSON.parse(waiting.body.toString())) {
        for (const set of device.auth_sets) {
          if (set.pubkey.trim() !== String(pubkey).trim() || set.status !== 'pending') continue;
          const parameters = { id: device.id, aid: set.id };
          const json = { status: 'accepted' };
          await ask(requestFor('set-auth-set-status', { token, parameters, json }));
          return ask(request);
        }
      }
      return answer;
    },
  };
}
