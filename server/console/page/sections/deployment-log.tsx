/** Shows the log that a device has uploaded for a deployment. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { reasonOf } from '../api/client.ts';
import { callManagement } from '../api/management.ts';

/** A button that shows the log in a dialog. */
export function LogButton({ deploymentId, deviceId }: { deploymentId: string; deviceId: string }) {
  const [text, setText] = useState<string | undefined>(undefined);
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (text !== undefined) dialog.current?.showModal();
  }, [text]);
  const show = async (): Promise<void> => {
    const parameters = { id: deploymentId, device_id: deviceId };
    setText(
      await callManagement('get-deployment-log', { parameters }).then(
        (response) => response.text(),
        reasonOf,
      ),
    );
  };
  return (
    <>
      <button type="button" class="kit-button" data-kind="small" onClick={show}>
        Show log
      </button>
      {text !== undefined && (
        <dialog
          ref={dialog}
          class="question log"
          aria-label="Deployment log"
          onClose={() => setText(undefined)}
        >
          <pre>{text}</pre>
          <div class="actions">
            <button type="button" class="kit-button" onClick={() => dialog.current?.close()}>
              Close
            </button>
          </div>
        </dialog>
      )}
    </>
  );
}
