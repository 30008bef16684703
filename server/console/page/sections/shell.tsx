/** A terminal on a connected device. The device's output is shown only in the terminal. */
import '@xterm/xterm/css/xterm.css';
import { FitAddon } from '@xterm/addon-fit';
import { Terminal } from '@xterm/xterm';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ShellSocket } from '../connect/shell-socket.ts';
import { openStyled } from '../connect/terminal-styles.ts';

const SCROLLBACK_LINES = 2000;

/** Renders the terminal and its buttons. */
export function Shell({ deviceId, isOpen }: { deviceId: string; isOpen: boolean }) {
  const [isRunning, setRunning] = useState(false);
  const [ended, setEnded] = useState('');
  return (
    <>
      <div class="actions">
        <button
          type="button"
          class="kit-button"
          data-kind={isRunning ? '' : 'main'}
          disabled={!isOpen && !isRunning}
          onClick={() => {
            setEnded('');
            setRunning(!isRunning);
          }}
        >
          {isRunning ? 'End the shell' : 'Start a shell'}
        </button>
        <span role="status" class="muted">
          {isOpen || isRunning ? ended : 'The device has no open connection.'}
        </span>
      </div>
      {isRunning && (
        <Running
          deviceId={deviceId}
          onEnd={(why) => {
            setEnded(why);
            setRunning(false);
          }}
        />
      )}
    </>
  );
}

function Running({ deviceId, onEnd }: { deviceId: string; onEnd: (why: string) => void }) {
  const frame = useRef<HTMLDivElement>(null);
  const end = useRef(onEnd);
  end.current = onEnd;
  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    const terminal = new Terminal({
      scrollback: SCROLLBACK_LINES,
      screenReaderMode: true,
      // Links in the output are disabled, because the device controls where they lead.
      linkHandler: { activate: () => undefined },
      fontSize: 13,
    });
    const fit = new FitAddon();
    terminal.loadAddon(fit);
    const restoreStyles = openStyled(() => terminal.open(element));
    fit.fit();
    const socket = new ShellSocket(deviceId, {
      size: () => ({ height: terminal.rows, width: terminal.cols }),
      onOutput: (bytes) => terminal.write(bytes),
      onEnd: (why) => end.current(why),
    });
    const keys = terminal.onData((text) => socket.type(text));
    const sizes = terminal.onResize(() => socket.resize());
    const observer = new ResizeObserver(() => fit.fit());
    observer.observe(element);
    void socket.open();
    terminal.focus();
    return () => {
      observer.disconnect();
      keys.dispose();
      sizes.dispose();
      socket.close();
      terminal.dispose();
      restoreStyles();
    };
  }, [deviceId]);
  return <div ref={frame} class="terminal" />;
}
