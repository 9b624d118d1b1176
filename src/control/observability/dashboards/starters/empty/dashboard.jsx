import { data } from 'svc/dashboard';

export default function Dashboard() {
  return <pre>{JSON.stringify(data, null, 2)}</pre>;
}
