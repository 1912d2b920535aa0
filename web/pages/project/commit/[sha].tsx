/** A commit: its message and its diff. */
import type { Listed, Records } from '../../../api.ts'
import { Avatar } from '../../../components/Avatar.tsx'
import { DiffTools, looksOf, viewOf } from '../../../components/DiffTools.tsx'
import { cutDiffs } from '../../../components/diff-lines.ts'
import type { Discussion } from '../../../components/Discussions.tsx'
import { Button, Form } from '../../../components/Form.tsx'
import { Icon } from '../../../components/Icon.tsx'
import { Listing } from '../../../components/MergeRequests.tsx'
import { branchNames, loadRefs, type Refs } from '../../../components/RefPicker.tsx'
import { State } from '../../../components/State.tsx'
import { Time } from '../../../components/Time.tsx'
import { Empty, Pages } from '../../../components/lists.tsx'
import { below, projectFrame, type InProject, type Project } from '../../../layout/project.tsx'
import { page as declare, text, type Act } from '../../../page.ts'
import { queryText, withQuery } from '../../../query.ts'
import { locationAddress } from '../../../refs.ts'
import { CommitConversation, CommitDiff } from './CommitNotes.tsx'
import { commitNoteActions } from './note-actions.ts'
import { rich } from '../../../rich.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/repository.ts'
import './[sha].css'

const FILES_PER_PAGE = 20

interface Data {
  commit: Records['CommitDetail']
  diffs: Listed<Records['Diff'][]>
  signature: Records['CommitSignature'] | null
  within: { type: 'branch' | 'tag'; name: string }[]
  requests: Records['MergeRequest'][]
  refs: Refs | null
  discussions: Listed<Discussion[]>
}

const PATH = '/projects/{id}/repository/commits/{sha}'

async function land(act: Act, how: 'cherry_pick' | 'revert'): Promise<string> {
  const { api, params, form } = act
  const branch = text(form, 'branch')
  const made = await api.post(`${PATH}/${how}`, { id: params.id!, sha: params.sha!, branch })
  return `/${params.id}/-/commit/${made.id}`
}

export const page = declare<Data, InProject>({
  frame: projectFrame,
  load({ api, params, query, me }) {
    const at = { id: params.id!, sha: params.sha! }
    const only = Number(query.get('only')) || 0
    const part = only ? { page: only, per_page: 1 } : { page: Number(query.get('page')) || 1, per_page: FILES_PER_PAGE }
    const input = { ...part, ...looksOf(query) }
    return {
      commit: api.get(PATH, at),
      diffs: api.list(`${PATH}/diff`, { ...at, ...input }).then((list) => ({ ...list, items: cutDiffs(list.items) })),
      signature: api.maybe(`${PATH}/signature`, at),
      within: api.maybe(`${PATH}/refs`, { ...at, per_page: 20 }).then((found) => found ?? []),
      requests: api.maybe(`${PATH}/merge_requests`, { ...at, per_page: 5 }).then((found) => found ?? []),
      discussions: api.list(`${PATH}/discussions`, { ...at, per_page: 100, render_html: true }),
      refs: me ? loadRefs(api, params.id!) : null,
    }
  },
  description: ({ commit }) => `${commit.author_name}: ${commit.message}`,
  title: ({ commit }) => `${commit.title} (${commit.short_id})`,
  live: ({ project, commit }) =>
    project
      ? {
          path: `/projects/${project.id}/live`,
          events: ['note.created', 'note.updated', 'note.deleted', 'pipeline.changed', 'pipeline.deleted'],
          // An event about a deleted note does not name its commit.
          about: ({ iid, sha }) => sha === commit.id || (sha === undefined && iid === undefined),
        }
      : null,
  actions: {
    ...commitNoteActions,
    pick: (act) => land(act, 'cherry_pick'),
    revert: (act) => land(act, 'revert'),
  },
  View: ({ project, commit, diffs, signature, within, requests, refs, discussions, address, query, me }) => {
    const abilities = {
      me,
      mayComment: project.can.commentOnCommits,
      mayModerate: project.can.administer,
      hasReactions: false,
    }
    const only = Number(query.get('only')) || 0
    const first = only ? only - 1 : (diffs.page - 1) * FILES_PER_PAGE
    const body = commit.message.slice(commit.message.indexOf('\n') + 1).trim()
    return (
      <>
        <div class="head">
          <h1>{commit.title}</h1>
          <div class="row">
            <a class="button" href={locationAddress(project, 'tree', commit.id)}>
              <Icon name="folder" /> {t.browseFiles}
            </a>
            <a class="button" href={`/${project.path_with_namespace}/-/commit/${commit.id}.patch`}>
              {common.downloadPatch}
            </a>
            {refs && project.can.push && <Landing project={project} refs={refs} />}
          </div>
        </div>
        {body !== commit.title && body !== '' && <pre class="commit-message">{body}</pre>}
        <div class="commit-facts">
          <p>
            <Avatar of={{ name: commit.author_name }} /> <strong>{commit.author_name}</strong>{' '}
            <span class="quiet">{rich(t.authoredTime, { time: <Time at={commit.authored_date} /> })}</span>
            {commit.committer_email !== commit.author_email && (
              <>
                , <strong>{commit.committer_name}</strong>{' '}
                <span class="quiet">{rich(t.committedTime, { time: <Time at={commit.committed_date} /> })}</span>
              </>
            )}{' '}
            {signature && (
              <span class="badge">
                {signature.signature_type}: {signature.verification_status.replaceAll('_', ' ')}
              </span>
            )}
          </p>
          <p>
            <Icon name="commit" /> <code>{commit.id}</code>{' '}
            <span class="quiet">
              {commit.parent_ids.length === 0 ? t.noParents : commit.parent_ids.length > 1 ? t.parents : t.parent}
            </span>{' '}
            {commit.parent_ids.map((id) => (
              <>
                <a href={below(project, `commit/${id}`)} key={id}>
                  <code>{id.slice(0, 8)}</code>
                </a>{' '}
              </>
            ))}
          </p>
          {within.length > 0 && (
            <p>
              <Icon name="branch" />{' '}
              {within.map(({ name, type }) => (
                <>
                  <a class="label" href={locationAddress(project, 'tree', name)} key={type + name}>
                    <Icon name={type === 'tag' ? 'tag' : 'branch'} /> {name}
                  </a>{' '}
                </>
              ))}
            </p>
          )}
          {requests.map((one) => (
            <p key={one.id}>
              <Icon name="merge-request" /> <a href={below(project, `merge_requests/${one.iid}`)}>{one.title}</a>{' '}
              <span class="quiet">!{one.iid}</span>
            </p>
          ))}
          {commit.last_pipeline && (
            <p>
              <a href={below(project, `pipelines/${commit.last_pipeline.id}`)}>
                <State of={commit.last_pipeline.status} />
              </a>{' '}
              <span class="quiet">{t.pipelineNumber(commit.last_pipeline.id)}</span>
            </p>
          )}
        </div>
        <DiffTools files={diffs.items} total={diffs.total ?? diffs.items.length} address={address} query={query} />
        {diffs.items.length === 0 ? (
          <Empty title={t.noFilesChanged} />
        ) : (
          <CommitDiff
            {...abilities}
            commit={commit}
            discussions={discussions.items}
            address={address}
            opened={query.get('comment')}
            files={diffs.items}
            view={viewOf(query)}
            first={first}
            aside={(file) => (
              <a
                href={locationAddress(
                  project,
                  'blob',
                  file.deleted_file ? (commit.parent_ids[0] ?? commit.id) : commit.id,
                  file.new_path,
                )}
              >
                {t.viewFile}
              </a>
            )}
            whole={(_file, position) => ({
              page: withQuery(address, { only: position + 1 }),
              api: `/api/v4/projects/${project.id}/repository/commits/${commit.id}/diff?per_page=1&page=${position + 1}&${queryText(looksOf(query))}`,
            })}
          />
        )}
        {only ? <a href={withQuery(address, { only: null })}>{t.allFiles}</a> : <Pages of={diffs} />}
        <CommitConversation
          {...abilities}
          commit={commit}
          files={diffs.items}
          discussions={discussions.items}
          total={discussions.total ?? 0}
        />
      </>
    )
  },
})

/** Cherry-pick or revert. */
function Landing({ project, refs }: { project: Project; refs: Refs }) {
  const onto = (
    <Listing
      name="branch"
      label={common.targetBranch}
      of={branchNames(project, refs)}
      value={project.default_branch ?? undefined}
      required
    />
  )
  return (
    <details class="menu">
      <summary class="button">
        {' '}
        {t.options} <Icon name="down" />
      </summary>
      <div class="menu-items">
        <Form action="pick">
          {onto}
          <Button>{t.cherryPick}</Button>
        </Form>
        <hr />
        <Form action="revert" confirm={t.createCommitThatRevertsThisCommit}>
          {onto}
          <Button kind="danger">{t.revert}</Button>
        </Form>
      </div>
    </details>
  )
}
