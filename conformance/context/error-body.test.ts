import { describe, expect, it } from 'vitest';
import { ExpectationFailure, NotObservable } from '../target/expectations.ts';
import { expectErrorBody } from './error-body.ts';

const refusal = (text: string, status = 400) => ({
  status,
  text,
  bytes: Buffer.from(text),
  headers: { 'content-type': 'application/json' },
});

describe('the error body of a refusal', () => {
  it.each(['{}', '{"error":"no","request_id":"1"}'])('may be the JSON object %s', (text) => {
    expect(() => expectErrorBody(refusal(text))).not.toThrow();
  });

  it.each(['[]', '[{"error":"no"}]', '"no"', '1', 'null', '', '<p>no</p>'])(
    'must not be the text %s',
    (text) => {
      expect(() => expectErrorBody(refusal(text))).toThrow(ExpectationFailure);
    },
  );

  it('cannot be observed in a successful response', () => {
    expect(() => expectErrorBody(refusal('{}', 200))).toThrow(NotObservable);
  });
});
