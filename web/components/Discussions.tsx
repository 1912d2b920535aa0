/**
 * The discussions of an issue or merge request: threads with replies and reactions, with system notes in between. The
 * page must have the actions of `noteActions`.
 */
import type { ComponentChildren } from 'preact'
import type { Records } from '../api.ts'
import { useSurroundings } from '../surroundings.ts'
import type { Me } from '../page.ts'
import { Person } from './Avatar.tsx'
import { ActButton, Button, Folded, Form, Tick } from './Form.tsx'
import { Icon } from './Icon.tsx'
import { Reactions } from './Reactions.tsx'
import { Prose } from './State.tsx'
import { Time } from './Time.tsx'
import { WritingArea } from './WritingArea.tsx'
import * as common from '../texts/common.ts'
import * as t from '../texts/planning.ts'
import './Discussions.css'

export type Discussion = Records['Discussion']
export type Note = Records['Note']

export interface CommentAbilities {
  readonly me: Me | null
  /** Whether the viewer may comment. */
  readonly mayComment: boolean
  /** Whether the viewer may edit notes of others. */
  readonly mayModerate?: boolean
  /** Whether the viewer may resolve threads. */
  readonly mayResolve?: boolean
  /** Whether notes have reactions; notes on commits have none. */
  readonly hasReactions?: boolean
  /** Shown below the text of a comment. */
  readonly extra?: (note: Note) => ComponentChildren
}

interface DiscussionsProps extends CommentAbilities {
  /** Loaded with `render_html`. */
  discussions: readonly Discussion[]
  /** Shown above a thread: the diff lines it is about. */
  context?: (discussion: Discussion) => ComponentChildren
}

export const Discussions = ({ discussions, context, ...abilities }: DiscussionsProps) => (
  <ol class="talk" aria-label={common.comments}>
    {discussions.map((discussion) =>
      discussion.notes[0]!.system ? (
        <Payload note={discussion.notes[0]!} key={discussion.id} />
      ) : (
        <Thread discussion={discussion} context={context} {...abilities} key={discussion.id} />
      ),
    )}
  </ol>
)

/** A system note. */
const Payload = ({ note }: { note: Note }) => (
  <li class="told" id={`note_${note.id}`}>
    <Icon name="pencil" />
    <div>
      <Person of={note.author} /> <span class="told-text" dangerouslySetInnerHTML={{ __html: note.body_html ?? '' }} />{' '}
      <a class="quiet" href={`#note_${note.id}`}>
        <Time at={note.created_at} />
      </a>
    </div>
  </li>
)

interface ThreadProps extends CommentAbilities {
  discussion: Discussion
  context?: ((discussion: Discussion) => ComponentChildren) | undefined
}

export function Thread({ discussion, context, ...abilities }: ThreadProps) {
  const { id, notes, individual_note } = discussion
  const { returned } = useSurroundings()
  const isResolvable = notes.some((note) => note.resolvable)
  const isResolved = isResolvable && notes.every((note) => !note.resolvable || note.resolved)
  const content = (
    <>
      {context?.(discussion)}
      {notes.map((note) => (
        <Message note={note} discussion={discussion} {...abilities} key={note.id} />
      ))}
      {abilities.mayComment && (
        <footer class="thread-end">
          {(!individual_note || !isResolvable) && <Reply discussion={id} />}
          {isResolvable && abilities.mayResolve && (
            <ActButton
              action="resolve"
              id={`resolve-${id}`}
              fields={{ discussion_id: id, resolved: String(!isResolved) }}
            >
              <Icon name={isResolved ? 'running' : 'check'} /> {isResolved ? common.reopen : t.resolve}
            </ActButton>
          )}
        </footer>
      )}
    </>
  )
  return (
    <li class="thread" data-resolved={isResolved ? '' : undefined}>
      {isResolved ? (
        <details open={returned?.values.discussion_id === id}>
          <summary>
            <Icon name="check" />{' '}
            {t.resolvedByName(notes.find((note) => note.resolved_by)?.resolved_by?.name ?? common.deletedUser)}
          </summary>
          {content}
        </details>
      ) : (
        content
      )}
    </li>
  )
}

const Reply = ({ discussion }: { discussion: string }) => (
  <Folded action="reply" id={`reply-${discussion}`} class="reply">
    <summary>{t.reply}</summary>
    <Form action="reply" id={`reply-${discussion}`} resets>
      <input type="hidden" name="discussion_id" value={discussion} />
      <WritingArea name="body" label={t.reply} lines={3} required isQuiet hasCommands />
      <Button kind="main">{t.reply}</Button>
    </Form>
  </Folded>
)

function Message({
  note,
  discussion,
  me,
  mayComment,
  mayModerate = false,
  hasReactions = true,
  extra,
}: CommentAbilities & { note: Note; discussion: Discussion }) {
  const isMine = me !== null && note.author?.id === me.id
  const ids = { discussion_id: discussion.id, note_id: note.id }
  const mayChange = mayComment && (isMine || mayModerate)
  return (
    <article class="note" id={`note_${note.id}`} aria-label={t.commentByName(note.author?.name ?? common.deletedUser)}>
      <header>
        <Person of={note.author} />
        <a class="quiet" href={`#note_${note.id}`}>
          <Time at={note.created_at} />
        </a>
        {note.updated_at !== note.created_at && <span class="quiet">{t.edited}</span>}
        {note.internal && (
          <span class="badge">
            <Icon name="lock" /> {t.internalNote}
          </span>
        )}
        {mayChange && (
          <span class="note-tools">
            <ActButton
              action="deleteNote"
              id={`delete-${note.id}`}
              fields={ids}
              kind="plain"
              label={t.deleteComment}
              confirm={t.deleteThisComment}
            >
              <Icon name="trash" />
            </ActButton>
          </span>
        )}
      </header>
      <Prose html={note.body_html ?? ''} />
      {extra?.(note)}
      <div class="note-foot">
        {hasReactions && <Reactions awards={note.award_emoji ?? []} me={me} mayComment={mayComment} on={note.id} />}
        {mayChange && (
          <Folded action="editNote" id={`edit-${note.id}`} class="note-edit">
            <summary>{common.edit}</summary>
            <Form action="editNote" id={`edit-${note.id}`} resets>
              <input type="hidden" name="discussion_id" value={discussion.id} />
              <input type="hidden" name="note_id" value={note.id} />
              <WritingArea name="body" label={common.comment} lines={4} required isQuiet value={note.body} />
              <Button kind="main">{common.save}</Button>
            </Form>
          </Folded>
        )}
      </div>
    </article>
  )
}

interface CommentBoxProps {
  /** Further buttons: the action gets the name of the pressed one. */
  children?: ComponentChildren
  /** Whether the viewer may write internal notes. */
  mayBeInternal?: boolean
}

/** The form for a new comment. */
export const CommentBox = ({ children, mayBeInternal = false }: CommentBoxProps) => (
  <Form action="comment" class="comment-box" resets>
    <WritingArea name="body" label={common.comment} lines={4} hasCommands />
    {mayBeInternal && (
      <label class="row">
        <Tick name="internal" /> {t.internalNote}
      </label>
    )}
    <p class="row">
      <span class="split">
        <Button kind="main">{common.comment}</Button>
        <Button name="thread" value="true">
          {t.startThread}
        </Button>
      </span>
      {children}
    </p>
  </Form>
)
