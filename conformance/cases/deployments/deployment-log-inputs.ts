/** The inputs for each field of a deployment log, which cases send. Spec: DeploymentLog */
import { type InputTable, otherThanString } from '../../suite/input-table.ts';

/** A valid message of a log. */
export const validMessage = {
  timestamp: '2026-01-31T12:00:00Z',
  level: 'error',
  message: 'no space left',
};

/** A valid log. It has two messages, so that a mistake in the second one is tested. */
export const validLog = { messages: [validMessage, validMessage] };

/** The input table for each field of a log. */
export const logInputs: InputTable = {
  'date-time-as-timestamp-is-accepted': {
    title: 'A timestamp may have a fraction of a second and any offset from UTC.',
    requirement: 'log.timestamp-is-a-date-time',
    field: 'messages[].timestamp',
    accepted: {
      'a fraction and an offset': '2026-01-31T12:00:00.123456789+05:30',
      'an offset to the west': '2026-01-31T00:00:00-11:00',
      'a leap day': '2028-02-29T23:59:59Z',
    },
  },
  'malformed-timestamp-is-400': {
    title: 'A timestamp that is not a date-time is answered with 400.',
    requirement: 'log.timestamp-is-a-date-time',
    field: 'messages[].timestamp',
    refused: {
      'a word': 'yesterday',
      'a day that does not exist': '2026-02-30T12:00:00Z',
      'a month that does not exist': '2026-13-01T12:00:00Z',
      'an hour that does not exist': '2026-01-31T25:00:00Z',
      'seconds since 1970 as a string': '1769860800',
    },
    covers: ['put-deployment-log 400'],
  },
  'missing-body-is-400': {
    title: 'A log without a body is answered with 400.',
    requirement: 'log.body-is-required',
    field: '',
    refused: ['missing'],
  },
  'malformed-log-is-400': {
    title: 'A log that is not a JSON object is answered with 400.',
    requirement: 'log.malformed-is-400',
    field: '',
    refused: ['not JSON', 'null', 'boolean', 'number', 'string', 'array'],
  },
  'missing-messages-is-400': {
    title: 'A log without messages is answered with 400.',
    requirement: 'log.fields-are-required',
    field: 'messages',
    refused: ['missing'],
  },
  'other-type-of-messages-is-400': {
    title: 'A log whose messages are not an array is answered with 400.',
    requirement: 'log.messages-is-array',
    field: 'messages',
    refused: ['null', 'boolean', 'number', 'string', 'empty string', 'long string', 'object'],
  },
  'empty-log': {
    title: 'How a log without messages is answered.',
    requirement: 'log.empty',
    field: 'messages',
    open: ['array'],
  },
  'other-type-of-entry-is-400': {
    title:
      'A log with an entry that is not an object, even among valid ones, is answered with 400.',
    requirement: 'log.messages-are-objects',
    field: 'messages[]',
    refused: ['null', 'boolean', 'number', 'string', 'empty string', 'long string', 'array'],
  },
  'missing-timestamp-is-400': {
    title: 'A log with a message without timestamp, even among valid ones, is answered with 400.',
    requirement: 'log.timestamp-is-required',
    field: 'messages[].timestamp',
    refused: ['missing'],
  },
  'other-type-of-timestamp-is-400': {
    title: 'A log with a timestamp that is not a string is answered with 400.',
    requirement: 'log.timestamp-is-string',
    field: 'messages[].timestamp',
    refused: otherThanString,
  },
  'any-string-as-timestamp-is-400': {
    title:
      'A log with a timestamp that is an arbitrary, empty or long string is answered with 400.',
    requirement: 'log.timestamp-is-a-date-time',
    field: 'messages[].timestamp',
    refused: ['string', 'empty string', 'long string'],
  },
  'missing-level-is-400': {
    title: 'A log with a message without level, even among valid ones, is answered with 400.',
    requirement: 'log.level-is-required',
    field: 'messages[].level',
    refused: ['missing'],
  },
  'other-type-of-level-is-400': {
    title: 'A log with a level that is not a string is answered with 400.',
    requirement: 'log.level-is-string',
    field: 'messages[].level',
    refused: otherThanString,
  },
  'any-level-is-accepted': {
    title: 'A level may be any string, since the contract lists none.',
    requirement: 'log.level-is-string',
    field: 'messages[].level',
    accepted: ['string'],
  },
  'empty-level': {
    title: 'How a log with an empty level is answered.',
    requirement: 'log.empty-strings',
    field: 'messages[].level',
    open: ['empty string'],
  },
  'long-level': {
    title: 'How a log with a very long level is answered.',
    requirement: 'log.long-strings',
    field: 'messages[].level',
    open: ['long string'],
  },
  'missing-message-is-400': {
    title: 'A log with a message without its text, even among valid ones, is answered with 400.',
    requirement: 'log.message-is-required',
    field: 'messages[].message',
    refused: ['missing'],
  },
  'other-type-of-message-is-400': {
    title: 'A log with a message whose text is not a string is answered with 400.',
    requirement: 'log.message-is-string',
    field: 'messages[].message',
    refused: otherThanString,
  },
  'any-message-is-accepted': {
    title: 'A message may be any string.',
    requirement: 'log.message-is-string',
    field: 'messages[].message',
    accepted: ['string'],
  },
  'empty-message': {
    title: 'How a log with an empty message is answered.',
    requirement: 'log.empty-strings',
    field: 'messages[].message',
    open: ['empty string'],
  },
  'long-message': {
    title: 'How a log with a very long message is answered.',
    requirement: 'log.long-strings',
    field: 'messages[].message',
    open: ['long string'],
  },
};
