/** Projects, groups and users in lists. */
import type { ComponentChildren } from 'preact'
import type { Records } from '../api.ts'
import { Avatar } from './Avatar.tsx'
import { Icon } from './Icon.tsx'
import { State, Visibility } from './State.tsx'
import { Time } from './Time.tsx'
import { Row, Rows } from './lists.tsx'
import { rich } from '../rich.ts'
import * as t from '../texts/common.ts'

export const ProjectRows = ({ projects }: { projects: readonly Records['Project'][] }) => (
  <Rows label={t.projects}>
    {projects.map((project) => (
      <Row
        key={project.id}
        lead={<Avatar of={project} size={32} />}
        title={
          <>
            <a class="place-link" href={`/${project.path_with_namespace}`}>
              {project.name_with_namespace}
            </a>{' '}
            {project.visibility && <Visibility of={project.visibility} />}{' '}
            {project.archived && <span class="badge">{t.archived}</span>}
          </>
        }
        facts={
          <>
            {project.description && <>{project.description} · </>}
            {rich(t.updatedTime, { time: <Time at={project.last_activity_at} /> })}
          </>
        }
        aside={
          <span title={t.starCount(project.star_count)}>
            <Icon name="star" /> {project.star_count}
            <span class="spoken"> {t.stars}</span>
          </span>
        }
      />
    ))}
  </Rows>
)

interface AnyGroup {
  readonly id: number
  readonly name: string
  readonly full_name: string
  readonly full_path: string
  readonly avatar_url: string | null
  readonly description?: string
  readonly visibility?: string
}

export const GroupRows = ({
  groups,
  aside,
}: {
  groups: readonly AnyGroup[]
  aside?: (group: AnyGroup) => ComponentChildren
}) => (
  <Rows label={t.groups}>
    {groups.map((group) => (
      <Row
        key={group.id}
        lead={<Avatar of={group} size={32} />}
        title={
          <>
            <a class="place-link" href={`/${group.full_path}`}>
              {group.full_name}
            </a>{' '}
            {group.visibility && <Visibility of={group.visibility} />}
          </>
        }
        facts={group.description || `@${group.full_path}`}
        aside={aside?.(group)}
      />
    ))}
  </Rows>
)

export const UserRows = ({
  users,
  aside,
}: {
  users: readonly Records['UserSummary'][]
  aside?: (user: Records['UserSummary']) => ComponentChildren
}) => (
  <Rows label={t.users}>
    {users.map((user) => (
      <Row
        key={user.id}
        lead={<Avatar of={user} size={32} />}
        title={
          <>
            <a class="place-link" href={`/${user.username}`}>
              {user.name}
            </a>{' '}
            {user.state !== 'active' && <State of={user.state} />}
          </>
        }
        facts={`@${user.username}`}
        aside={aside?.(user)}
      />
    ))}
  </Rows>
)

const TARGETS: Record<string, readonly [words: string, path: string | null]> = {
  Issue: ['issue', 'issues'],
  MergeRequest: [t.mergeRequestInline, 'merge_requests'],
  Milestone: ['milestone', 'milestones'],
  Note: ['', null],
  DiffNote: ['', null],
  DiscussionNote: ['', null],
}

/** An event as a sentence. */
export function EventSentence({ event, projectPath }: { event: Records['Event']; projectPath?: string | undefined }) {
  const pushed = event.push_data
  const [words, path] = TARGETS[event.target_type ?? ''] ?? [event.target_type?.toLowerCase() ?? '', null]
  const href = projectPath && path && event.target_iid !== null ? `/${projectPath}/-/${path}/${event.target_iid}` : null
  const title = event.target_title ?? (event.target_type === null ? t.theProject : '')
  return (
    <Row
      lead={<Avatar of={event.author} />}
      title={
        <span class="in-text">
          {event.action_name}{' '}
          {pushed ? (
            <>
              {pushed.ref_type} <code>{pushed.ref}</code>
            </>
          ) : (
            <>
              {words} {href ? <a href={href}>{title}</a> : title}
            </>
          )}
        </span>
      }
      facts={
        <>
          {projectPath && (
            <>
              <a href={`/${projectPath}`}>{projectPath}</a> ·{' '}
            </>
          )}
          {pushed?.commit_title && <>{pushed.commit_title} · </>}
          {event.note && <>{event.note.body.slice(0, 140)} · </>}
          <Time at={event.created_at} />
        </>
      }
    />
  )
}
