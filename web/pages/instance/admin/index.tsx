/** An overview of the server. */
import type { Records } from '../../../api.ts'
import { Chapter, Facts } from '../../../components/settings.tsx'
import { Row, Rows } from '../../../components/lists.tsx'
import { Time } from '../../../components/Time.tsx'
import { adminFrame } from '../../../layout/settings.tsx'
import { page as declare } from '../../../page.ts'
import { sizeText } from '../../../refs.ts'
import { rich } from '../../../rich.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/admin.ts'

interface Data {
  statistics: Records['InstanceStatistics']
  storage: Records['InstanceStorage']
  backup: Records['InstanceBackup']
  metadata: Records['Metadata']
  figures: { jobs: { processed: number; failed: number; enqueued: number; busy: number; dead: number } }
  newest: Records['Account'][]
  runners: Records['Runner'][]
}

const COUNTED = [
  ['users', common.users, '/admin/users'],
  ['active_users', t.activeUsers, null],
  ['projects', common.projects, '/admin/projects'],
  ['groups', common.groups, '/admin/groups'],
  ['issues', common.issues, null],
  ['merge_requests', common.mergeRequests, null],
  ['notes', common.comments, null],
  ['forks', common.forks, null],
  ['snippets', common.snippets, null],
  ['milestones', common.milestones, null],
  ['ssh_keys', common.sshKeys, null],
] as const

const STORED = [
  ['repository_size', t.repositories],
  ['lfs_objects_size', t.gitLfsObjects],
  ['job_artifacts_size', t.jobArtifacts],
  ['database_size', t.database],
] as const

export const page = declare<Data>({
  signedIn: true,
  frame: adminFrame,
  load: ({ api }) => ({
    statistics: api.get('/application/statistics', {}),
    storage: api.get('/application/storage', {}),
    backup: api.get('/application/backup', {}),
    metadata: api.get('/metadata', {}),
    figures: api.get('/sidekiq/job_stats', {}),
    newest: api.get('/users', { per_page: 5 }),
    runners: api.get('/runners/all', { per_page: 100 }),
  }),
  title: () => common.overview,
  View: ({ statistics, storage, backup, metadata, figures: { jobs }, newest, runners }) => (
    <>
      <h1>{common.administration}</h1>
      <Facts
        of={COUNTED.map(([name, text, href]) => [
          text,
          href ? <a href={href}>{statistics[name]}</a> : statistics[name],
        ])}
      />
      <Chapter title={t.health}>
        <Facts
          of={[
            [t.version, metadata.version],
            [t.revision, metadata.revision],
            [t.backgroundJobsQueued, jobs.enqueued],
            [t.backgroundJobsFailed, <a href="/admin/background_jobs">{jobs.dead}</a>],
            [t.runnersOnline, t.someOfAll(runners.filter(({ online }) => online).length, runners.length)],
          ]}
        />
        <p class="row">
          <a href="/-/readiness">{t.readiness}</a> <a href="/-/metrics">{t.metrics}</a>{' '}
          <a href="/api/docs">{common.apiReference}</a>
        </p>
      </Chapter>
      <Chapter title={t.storage}>
        <Facts
          of={[
            ...STORED.map(([name, text]) => [text, sizeText(storage[name])] as const),
            [t.freeDiskSpace, t.someOfAll(sizeText(storage.disk_free), sizeText(storage.disk_size))],
          ]}
        />
      </Chapter>
      <Chapter title={t.backup}>
        {backup.state === 'off' && <p>{t.backupStates.off}</p>}
        {(backup.state === 'behind' || backup.state === 'unproven') && (
          <p class="fault" role="alert">
            {t.backupStates[backup.state]}
          </p>
        )}
        {backup.state === 'off' ? null : (
          <Facts
            of={[
              [t.backupDestination, backup.url],
              [t.backupCurrent, backup.current_at ? <Time at={backup.current_at} /> : t.never],
              [t.backupProven, backup.verified_at ? <Time at={backup.verified_at} /> : t.never],
              ...(backup.error ? [[t.backupError, backup.error] as const] : []),
              ...(backup.verify_error ? [[t.proofError, backup.verify_error] as const] : []),
            ]}
          />
        )}
      </Chapter>
      <Chapter title={t.latestUsers}>
        <Rows label={t.latestUsers}>
          {newest.map((user) => (
            <Row
              key={user.id}
              title={<a href={`/admin/users/${user.username}`}>{user.name}</a>}
              facts={rich(t.usernameCreatedTime, { username: user.username, time: <Time at={user.created_at} /> })}
            />
          ))}
        </Rows>
      </Chapter>
    </>
  ),
})
