/** Notes on a commit: at changed lines, and on the whole commit. */
import { useState } from 'preact/hooks'
import type { Records } from '../../../api.ts'
import { Diff, type DiffFile, type DiffLine, type DiffSlots, type DiffView } from '../../../components/Diff.tsx'
import { linesOf } from '../../../components/diff-lines.ts'
import { Discussions, type Discussion, type CommentAbilities } from '../../../components/Discussions.tsx'
import { Button, Form } from '../../../components/Form.tsx'
import { Icon } from '../../../components/Icon.tsx'
import { WritingArea } from '../../../components/WritingArea.tsx'
import { commenting, lineKey, spotOf } from '../../../components/positions.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/repository.ts'

interface CommitDiffProps extends CommentAbilities, Pick<DiffSlots, 'aside' | 'whole'> {
  commit: Records['CommitDetail']
  files: readonly DiffFile[]
  first: number
  view: DiffView
  discussions: readonly Discussion[]
  address: string
  /** The line whose form the URL opens. */
  opened: string | null
}

const spotIn = (discussion: Discussion, commit: { id: string }) =>
  spotOf(discussion.notes[0]!, { head_sha: commit.id, base_sha: '', start_sha: '' })

/** The diff, with notes at its lines. */
export function CommitDiff(props: CommitDiffProps) {
  const { commit, files, first, view, discussions, address, aside, whole, opened: initial, ...abilities } = props
  const [opened, setOpened] = useState(initial)
  const threads = Map.groupBy(discussions, (one) => spotIn(one, commit) ?? '')
  const mark = (file: DiffFile, line: DiffLine) => {
    const key = lineKey(file, line)
    return (
      <a
        class="diff-mark"
        href={`${commenting(address, key)}#comment-here`}
        aria-label={t.commentOnLine(line.new ?? line.old)}
        onClick={(event) => {
          event.preventDefault()
          setOpened(opened === key ? null : key)
        }}
      >
        <Icon name="plus" />
      </a>
    )
  }
  const below = (file: DiffFile, line: DiffLine) => {
    if (line.kind === 'hunk' || line.kind === 'note') return null
    const key = lineKey(file, line)
    const here = threads.get(key) ?? []
    if (here.length === 0 && (opened !== key || !abilities.mayComment)) return null
    return (
      <div class="diff-talk">
        {here.length > 0 && <Discussions {...abilities} discussions={here} />}
        {opened === key && abilities.mayComment && (
          <LineForm commit={commit} file={file} line={line} address={address} onDone={() => setOpened(null)} />
        )}
      </div>
    )
  }
  return (
    <Diff
      files={files}
      first={first}
      view={view}
      {...(aside && { aside })}
      {...(whole && { whole })}
      {...(abilities.mayComment && { mark })}
      below={below}
    />
  )
}

interface LineFormProps {
  commit: Records['CommitDetail']
  file: DiffFile
  line: DiffLine
  address: string
  onDone: () => void
}

function LineForm({ commit, file, line, address, onDone }: LineFormProps) {
  const fields = {
    base_sha: commit.parent_ids[0] ?? '',
    head_sha: commit.id,
    old_path: file.old_path,
    new_path: file.new_path,
    old_line: line.old ?? '',
    new_line: line.new ?? '',
  }
  return (
    <div class="line-form" id="comment-here" onReset={onDone}>
      <Form action="lineComment" id={lineKey(file, line)} resets>
        {Object.entries(fields).map(([name, value]) => (
          <input type="hidden" name={name} value={value} key={name} />
        ))}
        <WritingArea
          name="body"
          label={t.commentOnLineOfNewPath(line.new ?? line.old, file.new_path)}
          lines={3}
          required
          placeholder={t.markdownAndMentions}
        />
        <p class="row">
          <Button kind="main">{common.comment}</Button>
          <a
            href={commenting(address, null)}
            onClick={(event) => {
              event.preventDefault()
              onDone()
            }}
          >
            {common.cancel}
          </a>
        </p>
      </Form>
    </div>
  )
}

interface ConversationProps extends CommentAbilities {
  commit: Records['CommitDetail']
  files: readonly DiffFile[]
  discussions: readonly Discussion[]
  /** The number of all discussions, if not all are shown. */
  total: number
}

/** Discussions that belong to no line of this page. */
export function CommitConversation({ commit, files, discussions, total, ...abilities }: ConversationProps) {
  const shown = new Set(files.flatMap((file) => linesOf(file.diff).map((line) => lineKey(file, line))))
  const others = discussions.filter((one) => !shown.has(spotIn(one, commit) ?? ''))
  if (others.length === 0 && !abilities.mayComment && total <= discussions.length) return null
  return (
    <section aria-labelledby="conversation" class="commit-talk">
      <h2 id="conversation">{common.comments}</h2>
      {others.length > 0 && (
        <Discussions {...abilities} discussions={others} context={(discussion) => <Where of={discussion} />} />
      )}
      {total > discussions.length && <p class="quiet">{t.firstThreads(discussions.length, total)}</p>}
      {abilities.mayComment && (
        <Form action="comment" class="comment-box" resets>
          <WritingArea name="body" label={common.comment} lines={4} required placeholder={t.markdownAndMentions} />
          <p class="row">
            <Button kind="main">{common.comment}</Button>
          </p>
        </Form>
      )}
    </section>
  )
}

function Where({ of: { notes } }: { of: Discussion }) {
  const at = notes[0]!.position
  if (!at) return null
  return (
    <p class="quiet">
      <code>
        {at.new_path ?? at.old_path}:{at.new_line ?? at.old_line}
      </code>
    </p>
  )
}
