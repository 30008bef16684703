/** Planted defects of the persistent connection. */
import { withHeaders } from '../alter.ts';
import type { Defect } from '../defect.ts';
import { opcodes } from '../frames.ts';
import { answerBecomes, requestBecomes } from '../plants.ts';

export const connectDefects: readonly Defect[] = [
  {
    id: 'websocket-accept-is-constant',
    title: 'Sec-WebSocket-Accept is the same whatever key was sent.',
    breaks: ['connect.accept-answers-the-key', 'connect.makes-available'],
    operations: ['connect'],
    plant: answerBecomes((answer) =>
      answer.status === 101
        ? withHeaders(answer, { 'sec-websocket-accept': 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=' })
        : answer,
    ),
  },
  {
    id: 'every-websocket-version-is-taken',
    title: 'An upgrade to another version than 13 is granted.',
    breaks: ['connect.version-13-only'],
    operations: ['connect'],
    plant: requestBecomes((request) => withHeaders(request, { 'sec-websocket-version': '13' })),
  },
  {
    id: 'pong-is-empty',
    title: 'A pong comes without the data of its ping.',
    breaks: ['connect.pong'],
    operations: ['connect'],
    plant: () => ({
      frame: (frame, from) =>
        from === 'target' && frame.opcode === opcodes.pong
          ? { ...frame, payload: Buffer.alloc(0) }
          : frame,
    }),
  },
];
