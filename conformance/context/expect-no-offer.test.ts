import { describe, expect, it } from 'vitest';
import { ExpectationFailure, NotObservable } from '../target/expectations.ts';
import type { HttpResponse } from '../target/response.ts';
import { expectNoOffer } from './expect-no-offer.ts';

function responseOf(status: number, text = ''): HttpResponse {
  return { status, text, bytes: Buffer.from(text), headers: {} };
}

describe('the expectation that no deployment is offered', () => {
  it.each([204, 400, 404, 409])('is met by a response with status %i', (status) => {
    expect(() => expectNoOffer(responseOf(status))).not.toThrow();
  });

  it('fails on a response that offers a deployment', () => {
    const offer = JSON.stringify({ id: 'd', artifact: {} });
    expect(() => expectNoOffer(responseOf(200, offer))).toThrow(ExpectationFailure);
  });

  it.each([500, 502, 503])('cannot be observed in a response with status %i', (status) => {
    expect(() => expectNoOffer(responseOf(status, '{"error":"fault"}'))).toThrow(NotObservable);
  });
});
