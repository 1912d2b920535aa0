/** Every push creates a version of a merge request; two versions can be compared. */
import type { Records } from '../../../../api.ts'
import { Diff } from '../../../../components/Diff.tsx'
import { Choice } from '../../../../components/Form.tsx'
import { Icon } from '../../../../components/Icon.tsx'
import { Time } from '../../../../components/Time.tsx'
import { Empty, Row, Rows } from '../../../../components/lists.tsx'
import { below, projectFrame, type InProject, type Project } from '../../../../layout/project.tsx'
import { page as declare } from '../../../../page.ts'
import { stateActions } from '../actions.ts'
import { CommitRows } from '../Commits.tsx'
import { Head, liveOf, loadOne, requestParams, type InRequest } from '../Head.tsx'

type Version = Records['MergeRequestVersion']
type Comparison = Records['MergeRequestVersionComparison']

interface Data extends InRequest {
  /** Newest first. */
  versions: Version[]
  comparison: Comparison | null
}

const ONE = '/projects/{id}/merge_requests/{merge_request_iid}'

export const page = declare<Data, InProject>({
  frame: projectFrame,
  signedIn: true,
  load: (request) => {
    const [from, to] = [Number(request.query.get('from')), Number(request.query.get('to'))]
    return {
      one: loadOne(request),
      versions: request.api.get(`${ONE}/versions`, { ...requestParams(request), per_page: 100 }),
      comparison:
        from && to && from !== to
          ? request.api.get(`${ONE}/versions/compare`, {
              ...requestParams(request),
              from,
              to,
              unidiff: false,
              render_html: true,
            })
          : Promise.resolve(null),
    }
  },
  title: ({ one }) => `Versions · ${one.title} (!${one.iid})`,
  actions: stateActions,
  live: ({ one }) => liveOf(one),
  View: ({ one, project, me, versions, comparison }) => {
    const at = below(project, `merge_requests/${one.iid}`)
    return (
      <>
        <Head one={one} project={project} tab="versions" me={me} />
        {versions.length > 1 && <CompareForm versions={versions} comparison={comparison} at={`${at}/versions`} />}
        {comparison ? (
          <Compared comparison={comparison} project={project} />
        ) : versions.length === 0 ? (
          <Empty title="No versions yet">
            <p>Every push to {one.source_branch} creates a version.</p>
          </Empty>
        ) : (
          <Rows label="Versions">
            {versions.map((version, n) => (
              <Row
                key={version.id}
                lead={<Icon name="commit" />}
                title={
                  <a href={n === 0 ? `${at}/diffs` : `${at}/diffs?version=${version.id}`}>
                    Version {versions.length - n}
                    {n === 0 && ' (newest)'}
                  </a>
                }
                facts={
                  <>
                    <code>{version.head_commit_sha?.slice(0, 8)}</code> <Time at={version.created_at} />
                    {version.real_size && `, ${version.real_size} files`}
                  </>
                }
                aside={
                  versions[n + 1] && (
                    <a href={`${at}/versions?from=${versions[n + 1]!.id}&to=${version.id}`}>
                      Changes since last version
                    </a>
                  )
                }
              />
            ))}
          </Rows>
        )}
      </>
    )
  },
})

interface CompareFormProps {
  versions: readonly Version[]
  comparison: Comparison | null
  at: string
}

function CompareForm({ versions, comparison, at }: CompareFormProps) {
  const options = versions.map(
    ({ id, head_commit_sha }, n) =>
      [String(id), `Version ${versions.length - n} (${head_commit_sha?.slice(0, 8) ?? ''})`] as const,
  )
  return (
    <form class="review-compare" action={at}>
      <Choice name="from" label="From" options={options} value={comparison?.from.id ?? versions[1]!.id} />
      <Choice name="to" label="To" options={options} value={comparison?.to.id ?? versions[0]!.id} />
      <button class="button">Compare</button>
    </form>
  )
}

const counted = (commits: number) => `${commits} ${commits === 1 ? 'commit' : 'commits'}`

function Compared({ comparison, project }: { comparison: Comparison; project: Project }) {
  const { commits, diffs, rebased, overflow } = comparison
  const conflicts = diffs.filter(({ conflict }) => conflict)
  return (
    <>
      <p>
        {counted(commits.added.length)} added, {commits.removed.length} removed, {commits.kept.length} unchanged.{' '}
        {rebased && 'The branch was rebased in between. Changes from the target branch are not shown.'}
      </p>
      {conflicts.length > 0 && (
        <p class="quiet">
          Rebase conflicts were resolved manually in {conflicts.map((file) => file.new_path).join(', ')}.
        </p>
      )}
      {commits.added.length > 0 && (
        <>
          <h2>New commits</h2>
          <CommitRows commits={commits.added.slice(0, 100)} project={project} />
        </>
      )}
      {commits.removed.length > 0 && (
        <>
          <h2>Removed commits</h2>
          <CommitRows commits={commits.removed.slice(0, 100)} project={project} />
        </>
      )}
      <h2>Changes</h2>
      {diffs.length === 0 ? <p class="quiet">No changes.</p> : <Diff files={diffs.slice(0, 100)} />}
      {(overflow || diffs.length > 100) && <p class="quiet">The diff is truncated.</p>}
    </>
  )
}
