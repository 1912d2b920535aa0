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
import * as common from '../../../../texts/common.ts'
import * as t from '../../../../texts/merge-requests.ts'
import './versions.css'

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
  title: ({ one }) => t.versionsTitle(one.title, one.iid),
  actions: stateActions,
  live: ({ one }) => liveOf(one),
  View: ({ one, project, versions, comparison }) => {
    const at = below(project, `merge_requests/${one.iid}`)
    return (
      <>
        <Head one={one} project={project} tab="versions" />
        {versions.length > 1 && <CompareForm versions={versions} comparison={comparison} at={`${at}/versions`} />}
        {comparison ? (
          <Compared comparison={comparison} project={project} />
        ) : versions.length === 0 ? (
          <Empty title={t.noVersionsYet}>
            <p>{t.everyPushToSourceBranch(one.source_branch)}</p>
          </Empty>
        ) : (
          <Rows label={t.versions}>
            {versions.map((version, n) => (
              <Row
                key={version.id}
                lead={<Icon name="commit" />}
                title={
                  <a href={n === 0 ? `${at}/diffs` : `${at}/diffs?version=${version.id}`}>
                    {t.versionNumber(versions.length - n)}
                    {n === 0 && t.newest}
                  </a>
                }
                facts={
                  <>
                    <code>{version.head_commit_sha?.slice(0, 8)}</code> <Time at={version.created_at} />
                    {version.real_size && t.filesSuffix(version.real_size)}
                  </>
                }
                aside={
                  versions[n + 1] && (
                    <a href={`${at}/versions?from=${versions[n + 1]!.id}&to=${version.id}`}>
                      {t.changesSinceLastVersion}
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
      [String(id), t.versionAtCommit(versions.length - n, head_commit_sha?.slice(0, 8) ?? '')] as const,
  )
  return (
    <form class="review-compare" action={at}>
      <Choice name="from" label={common.from} options={options} value={comparison?.from.id ?? versions[1]!.id} />
      <Choice name="to" label={common.to} options={options} value={comparison?.to.id ?? versions[0]!.id} />
      <button class="button">{common.compare}</button>
    </form>
  )
}

function Compared({ comparison, project }: { comparison: Comparison; project: Project }) {
  const { commits, diffs, rebased, overflow } = comparison
  const conflicts = diffs.filter(({ conflict }) => conflict)
  return (
    <>
      <p>
        {t.commitsCompared(commits.added.length, commits.removed.length, commits.kept.length)}{' '}
        {rebased && t.theBranchWasRebased}
      </p>
      {conflicts.length > 0 && (
        <p class="quiet">
          {t.rebaseConflictsWereResolvedManuallyIn(conflicts.map((file) => file.new_path).join(', '))}
        </p>
      )}
      {commits.added.length > 0 && (
        <>
          <h2>{t.newCommits}</h2>
          <CommitRows commits={commits.added.slice(0, 100)} project={project} />
        </>
      )}
      {commits.removed.length > 0 && (
        <>
          <h2>{t.removedCommits}</h2>
          <CommitRows commits={commits.removed.slice(0, 100)} project={project} />
        </>
      )}
      <h2>{common.changes}</h2>
      {diffs.length === 0 ? <p class="quiet">{common.noChanges}</p> : <Diff files={diffs.slice(0, 100)} />}
      {(overflow || diffs.length > 100) && <p class="quiet">{t.theDiffIsTruncated}</p>}
    </>
  )
}
