/** Frame of every page: the entities with their counts in a sidebar or, on a narrow screen, behind a button. */
import { Dialog } from '@base-ui/react/dialog';
import { useQuery } from '@tanstack/react-query';
import { Link, Outlet } from '@tanstack/react-router';
import { useState } from 'react';
import { readCounts } from '../host/rows.ts';
import { ThemeChoice } from '../pieces/theme.tsx';
import { world } from '../world/model.ts';

export const useCounts = () => useQuery({ queryKey: ['counts'], queryFn: readCounts });

const Entities = ({ onChoose }: { onChoose?: () => void }) => {
  const { data = [] } = useCounts();
  const counts = new Map(data.map(({ name, rows }) => [name, rows]));
  return (
    <nav aria-label="Entities" className="entities">
      <ul>
        {world().entities.map(({ name, label }) => (
          <li key={name}>
            <Link
              to="/entities/$entity"
              params={{ entity: name }}
              activeOptions={{ includeSearch: false }}
              {...(onChoose === undefined ? {} : { onClick: onChoose })}
            >
              <span>{label}</span>
              <span className="count">{counts.get(name)?.toLocaleString('en')}</span>
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
};

const Drawer = () => {
  const [isOpen, setOpen] = useState(false);
  return (
    <Dialog.Root open={isOpen} onOpenChange={setOpen}>
      <Dialog.Trigger className="quiet menu-button">Entities</Dialog.Trigger>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="drawer">
          <Dialog.Title className="drawer-title">{world().title}</Dialog.Title>
          <Entities onChoose={() => setOpen(false)} />
          <ThemeChoice />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
};

export const Shell = () => (
  <div className="shell">
    <a className="skip" href="#main">
      Skip to content
    </a>
    <header className="bar">
      <Link to="/" className="brand">
        {world().title}
      </Link>
      <Drawer />
    </header>
    <aside className="side" aria-label="World">
      <Link to="/" className="brand">
        {world().title}
      </Link>
      <Entities />
      <ThemeChoice />
    </aside>
    <main id="main" tabIndex={-1}>
      <Outlet />
    </main>
  </div>
);
