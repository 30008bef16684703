import { describe, expect, it } from 'vitest';
import type { Answer } from '../target/answer.ts';
import { ExpectationFailure, NotObservable } from '../target/expectations.ts';
import { expectNoOffer } from './next-deployment.ts';

function answer(status: number, text = ''): Answer {
  return { status, text, bytes: Buffer.from(text), headers: {} };
}

describe('that nothing is offered', () => {
  it.each([204, 400, 404, 409])('is seen in an answer with %i', (status) => {
    expect(() => expectNoOffer(answer(status))).not.toThrow();
  });

  it('is not seen where something is', () => {
    const offer = JSON.stringify({ id: 'd', artifact: {} });
    expect(() => expectNoOffer(answer(200, offer))).toThrow(ExpectationFailure);
  });

  it.each([500, 502, 503])('is not to be seen in an answer with %i', (status) => {
    expect(() => expectNoOffer(answer(status, '{"error":"fault"}'))).toThrow(NotObservable);
  });
});
