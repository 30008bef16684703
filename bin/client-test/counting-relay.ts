/** A relay to an address with faulty TLS, or without TLS, which counts its connections. */
import { connect, createServer, type Server } from 'node:net';

/** A relay that counts the connections to an address. */
export interface CountingRelay {
  readonly port: number;
  readonly connections: number;
  close(): Promise<void>;
}

/** Opens a relay to a local port. @param onConnection called for each connection */
export async function openCountingRelay(
  target: number,
  onConnection: () => void,
): Promise<CountingRelay> {
  let connections = 0;
  const open = new Set<{ destroy(): void }>();
  const server: Server = createServer((socket) => {
    connections += 1;
    onConnection();
    const targetSocket = connect(target, '127.0.0.1');
    for (const [one, two] of [
      [socket, targetSocket],
      [targetSocket, socket],
    ] as const) {
      open.add(one);
      one.pipe(two);
      one.on('error', () => two.destroy());
      one.on('close', () => open.delete(one) && two.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, resolve));
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    get connections() {
      return connections;
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const each of open) each.destroy();
      }),
  };
}
