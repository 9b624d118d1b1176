/** Dialog that confirms the deletion of a row, and shows why the world refuses it. */
import { AlertDialog } from '@base-ui/react/alert-dialog';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { AskError } from '../host/ask.ts';
import { deleteRow } from '../host/writes.ts';
import { useAnnounce } from '../pieces/announce.tsx';
import { nameOf } from '../world/keys.ts';
import type { PageEntity, Row } from '../world/model.ts';

type DeleteProps = { entity: PageEntity; row: Row; onClose: () => void };

export const DeleteRow = ({ entity, row, onClose }: DeleteProps) => {
  const client = useQueryClient();
  const navigate = useNavigate();
  const announce = useAnnounce();
  const deleting = useMutation({
    mutationFn: () => deleteRow(entity, row),
    async onSuccess() {
      announce('Deleted.');
      await navigate({ to: '/entities/$entity', params: { entity: entity.name }, replace: true });
      client.removeQueries({ queryKey: ['row'] });
      await client.invalidateQueries();
    },
  });
  return (
    <AlertDialog.Root open onOpenChange={(isOpen) => isOpen || onClose()}>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className="backdrop" />
        <AlertDialog.Popup className="question">
          <AlertDialog.Title className="sheet-title">
            Delete {nameOf(entity, row)}?
          </AlertDialog.Title>
          <AlertDialog.Description>
            The row is taken out of {entity.label}. Only a reset of the session brings it back.
          </AlertDialog.Description>
          {deleting.error === null ? null : (
            <div role="alert" className="form-fault">
              <p>{deleting.error.message}</p>
              {deleting.error instanceof AskError && deleting.error.status === 404 ? (
                <p>{deleting.error.hint}</p>
              ) : null}
            </div>
          )}
          <div className="actions">
            <AlertDialog.Close>Keep it</AlertDialog.Close>
            <button
              type="button"
              className="danger"
              disabled={deleting.isPending}
              onClick={() => deleting.mutate()}
            >
              {deleting.isPending ? 'Deleting…' : 'Delete'}
            </button>
          </div>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
};
