import { expect, it } from 'vitest';
import {
  ConnectMessageError,
  encodeConnectMessage,
} from '../../fixtures/formats/connect-message.ts';
import { messageIn } from './received-message.ts';

it('a received message is decoded once, however many readers ask for it', () => {
  const bytes = encodeConnectMessage({ proto: 1, typ: 'new' });
  expect(messageIn(bytes)).toEqual({ proto: 1, typ: 'new' });
  expect(messageIn(bytes)).toBe(messageIn(bytes));
});

it('bytes that are not a message are refused once, with the reason', () => {
  const bytes = Buffer.from('no message');
  expect(messageIn(bytes)).toBeInstanceOf(ConnectMessageError);
  expect(messageIn(bytes)).toBe(messageIn(bytes));
});
