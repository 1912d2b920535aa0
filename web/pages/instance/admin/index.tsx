/** An overview of the server. */
import type { Records } from '../../../api.ts'
import { Chapter, Facts } from '../../../components/settings.tsx'
import { Row, Rows } from '../../../components/lists.tsx'
import { Time } from '../../../components/Time.tsx'
import { adminFrame } from '../../../layout/settings.tsx'
import { page as declare } from '../../../page.ts'
import { sizeText } from '../../../refs.ts'

interface Data {
  statistics: Records['InstanceStatistics']
  storage: Records['InstanceStorage']
  metadata: Records['Metadata']
  figures: { jobs: { processed: number; failed: number; enqueued: number; busy: number; dead: number } }
  newest: Records['Account'][]
  runners: Records['Runner'][]
}

const COUNTED = [
  ['users', 'Users', '/admin/users'],
  ['active_users', 'Active users', null],
  ['projects', 'Projects', '/admin/projects'],
  ['groups', 'Groups', '/admin/groups'],
  ['issues', 'Issues', null],
  ['merge_requests', 'Merge requests', null],
  ['notes', 'Comments', null],
  ['forks', 'Forks', null],
  ['snippets', 'Snippets', null],
  ['milestones', 'Milestones', null],
  ['ssh_keys', 'SSH keys', null],
] as const

const STORED = [
  ['repository_size', 'Repositories'],
  ['lfs_objects_size', 'Git LFS objects'],
  ['job_artifacts_size', 'Job artifacts'],
  ['database_size', 'Database'],
] as const

export const page = declare<Data>({
  signedIn: true,
  frame: adminFrame,
  load: ({ api }) => ({
    statistics: api.get('/application/statistics', {}),
    storage: api.get('/application/storage', {}),
    metadata: api.get('/metadata', {}),
    figures: api.get('/sidekiq/job_stats', {}),
    newest: api.get('/users', { per_page: 5 }),
    runners: api.get('/runners/all', { per_page: 100 }),
  }),
  title: () => 'Overview',
  View: ({ statistics, storage, metadata, figures: { jobs }, newest, runners }) => (
    <>
      <h1>Administration</h1>
      <Facts
        of={COUNTED.map(([name, text, href]) => [
          text,
          href ? <a href={href}>{statistics[name]}</a> : statistics[name],
        ])}
      />
      <Chapter title="Health">
        <Facts
          of={[
            ['Version', metadata.version],
            ['Revision', metadata.revision],
            ['Background jobs queued', jobs.enqueued],
            ['Background jobs failed', <a href="/admin/background_jobs">{jobs.dead}</a>],
            ['Runners online', `${runners.filter(({ online }) => online).length} of ${runners.length}`],
          ]}
        />
        <p class="row">
          <a href="/-/readiness">Readiness</a> <a href="/-/metrics">Metrics</a> <a href="/api/docs">API reference</a>
        </p>
      </Chapter>
      <Chapter title="Storage">
        <Facts
          of={[
            ...STORED.map(([name, text]) => [text, sizeText(storage[name])] as const),
            ['Free disk space', `${sizeText(storage.disk_free)} of ${sizeText(storage.disk_size)}`],
          ]}
        />
      </Chapter>
      <Chapter title="Latest users">
        <Rows label="Latest users">
          {newest.map((user) => (
            <Row
              key={user.id}
              title={<a href={`/admin/users/${user.username}`}>{user.name}</a>}
              facts={
                <>
                  @{user.username} · created <Time at={user.created_at} />
                </>
              }
            />
          ))}
        </Rows>
      </Chapter>
    </>
  ),
})
