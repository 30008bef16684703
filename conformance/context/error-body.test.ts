import { describe, expect, it } from 'vitest';
import { ExpectationFailure, NotObservable } from '../target/expectations.ts';
import { expectErrorBody } from './error-body.ts';

const refusal = (text: string, status = 400) => ({
  status,
  text,
  bytes: Buffer.from(text),
  headers: { 'content-type': 'application/json' },
});

describe('the body of a refusal', () => {
  it.each(['{}', '{"error":"no","request_id":"1"}'])('may be %s', (text) => {
    expect(() => expectErrorBody(refusal(text))).not.toThrow();
  });

  it.each(['[]', '[{"error":"no"}]', '"no"', '1', 'null', '', '<p>no</p>'])(
    'may not be %s',
    (text) => {
      expect(() => expectErrorBody(refusal(text))).toThrow(ExpectationFailure);
    },
  );

  it('is not to be seen in a success', () => {
    expect(() => expectErrorBody(refusal('{}', 200))).toThrow(NotObservable);
  });
});
