/** Search results, each kind as on its own pages. */
import type { Records } from '../../api.ts'
import { Avatar } from '../../components/Avatar.tsx'
import { Icon } from '../../components/Icon.tsx'
import { IssueRow } from '../../components/IssueList.tsx'
import { State, Visibility } from '../../components/State.tsx'
import { Time } from '../../components/Time.tsx'
import { Row, Rows } from '../../components/lists.tsx'
import { encodePath, pathOf } from '../../refs.ts'
import { rich } from '../../rich.ts'
import * as common from '../../texts/common.ts'
import * as t from '../../texts/home.ts'
import './Results.css'

export type SearchResult = object

interface ResultsProps {
  scope: string
  found: readonly SearchResult[]
  project: string | null
}

export const Results = ({ scope, found, project }: ResultsProps) => (
  <Rows label={common.searchResults}>{found.map((one, n) => rowOf(scope, one, project ?? '', n))}</Rows>
)

function rowOf(scope: string, one: SearchResult, project: string, key: number) {
  switch (scope) {
    case 'projects':
      return <ProjectRow project={one as Records['SimpleProject']} key={key} />
    case 'issues':
      return <IssueRow issue={one as Records['Issue']} key={key} />
    case 'merge_requests':
      return <RequestRow request={one as Records['MergeRequest']} key={key} />
    case 'milestones':
      return <MilestoneRow milestone={one as Records['Milestone']} key={key} />
    case 'snippet_titles':
      return <SnippetRow snippet={one as Records['Snippet']} key={key} />
    case 'users':
      return <UserRow user={one as Records['UserSummary']} key={key} />
    case 'commits':
      return <CommitRow commit={one as Records['Commit']} project={project} key={key} />
    case 'notes':
      return <NoteRow note={one as Records['Note']} project={project} key={key} />
    default:
      return <BlobRow blob={one as Records['FoundBlob']} project={project} isWiki={scope === 'wiki_blobs'} key={key} />
  }
}

const ProjectRow = ({ project }: { project: Records['SimpleProject'] }) => (
  <Row
    lead={<Avatar of={project} size={32} />}
    title={<a href={`/${project.path_with_namespace}`}>{project.name_with_namespace}</a>}
    facts={
      <>
        {project.description} <Time at={project.last_activity_at} />
      </>
    }
  />
)

const RequestRow = ({ request }: { request: Records['MergeRequest'] }) => (
  <Row
    lead={<State of={request.state} isShort />}
    title={<a href={pathOf(request.web_url)}>{request.title}</a>}
    facts={rich(t.requestBranches(request.iid), {
      sourceBranch: request.source_branch,
      targetBranch: request.target_branch,
      time: <Time at={request.updated_at} />,
    })}
  />
)

const MilestoneRow = ({ milestone }: { milestone: Records['Milestone'] }) => (
  <Row
    lead={<State of={milestone.state === 'active' ? 'opened' : 'closed'} isShort />}
    title={<a href={pathOf(milestone.web_url)}>{milestone.title}</a>}
    facts={milestone.due_date && t.due(milestone.due_date)}
  />
)

const SnippetRow = ({ snippet }: { snippet: Records['Snippet'] }) => (
  <Row
    lead={<Icon name="file" />}
    title={
      <>
        <a href={pathOf(snippet.web_url)}>{snippet.title}</a> <Visibility of={snippet.visibility} />
      </>
    }
    facts={
      <>
        {snippet.file_name} · {snippet.author.name}, <Time at={snippet.updated_at} />
      </>
    }
  />
)

const UserRow = ({ user }: { user: Records['UserSummary'] }) => (
  <Row
    lead={<Avatar of={user} size={32} />}
    title={<a href={`/${user.username}`}>{user.name}</a>}
    facts={`@${user.username}`}
  />
)

const CommitRow = ({ commit, project }: { commit: Records['Commit']; project: string }) => (
  <Row
    lead={<Icon name="commit" />}
    title={<a href={`/${project}/-/commit/${commit.id}`}>{commit.title}</a>}
    facts={
      <>
        {commit.short_id} · {commit.author_name}, <Time at={commit.created_at} />
      </>
    }
  />
)

const SEGMENTS: Record<string, string> = { Issue: 'issues', MergeRequest: 'merge_requests', Snippet: 'snippets' }

function NoteRow({ note, project }: { note: Records['Note']; project: string }) {
  const segment = SEGMENTS[note.noteable_type]
  const at = note.noteable_type === 'Snippet' ? note.noteable_id : note.noteable_iid
  const href = segment
    ? `/${project}/-/${segment}/${at}#note_${note.id}`
    : `/${project}/-/commit/${note.commit_id}#note_${note.id}`
  return (
    <Row
      lead={<Icon name="comment" />}
      title={<a href={href}>{note.body.slice(0, 200)}</a>}
      facts={rich(t.nameOnNoteableTypeAtTime, {
        name: note.author?.name,
        noteableType: note.noteable_type
          .replace(/(?=[A-Z])/g, ' ')
          .trim()
          .toLowerCase(),
        at,
        time: <Time at={note.created_at} />,
      })}
    />
  )
}

function BlobRow({ blob, project, isWiki }: { blob: Records['FoundBlob']; project: string; isWiki: boolean }) {
  const path = isWiki
    ? `wikis/${encodePath(blob.basename)}`
    : `blob/${encodePath(`${blob.ref}/${blob.path}`)}#L${blob.startline}`
  return (
    <li class="item found-blob">
      <div class="item-body">
        <div class="item-title">
          <Icon name={isWiki ? 'book' : 'file'} /> <a href={`/${project}/-/${path}`}>{blob.path}</a>
        </div>
        <pre tabIndex={0} role="region" aria-label={t.linesOfPath(blob.path)}>
          {blob.data}
        </pre>
      </div>
    </li>
  )
}
