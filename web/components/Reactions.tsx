/** Emoji reactions to a text. */
import type { Records } from '../api.ts'
import type { Me } from '../page.ts'
import { ActButton, Button, Form, fold } from './Form.tsx'
import * as t from '../texts/planning.ts'
import './Reactions.css'

type Award = Records['AwardEmoji']

const PICTURES: Record<string, string> = {
  thumbsup: '👍',
  '+1': '👍',
  thumbsdown: '👎',
  '-1': '👎',
  smile: '😄',
  tada: '🎉',
  heart: '❤️',
  rocket: '🚀',
  eyes: '👀',
}
const OFFERED = ['thumbsup', 'thumbsdown', 'smile', 'tada', 'heart', 'rocket', 'eyes']

interface ReactionsProps {
  awards: readonly Award[]
  me: Me | null
  mayComment: boolean
  /** The note; if absent, the record of the page. */
  on?: number
}

export function Reactions({ awards, me, mayComment, on }: ReactionsProps) {
  const groups = [...Map.groupBy(awards, ({ name }) => name)]
  if (groups.length === 0 && !mayComment) return null
  const to = { note_id: on ?? '' }
  return (
    <div class="reactions">
      {groups.map(([name, given]) => {
        const mine = given.find(({ user }) => user.id === me?.id)
        const label = `${name}: ${given.map(({ user }) => user.name).join(', ')}`
        const content = `${PICTURES[name] ?? `:${name}:`} ${given.length}`
        return mayComment ? (
          <ActButton
            action="react"
            id={`react-${on ?? 'all'}-${name}`}
            fields={{ ...to, name, award_id: mine?.id ?? '' }}
            key={name}
          >
            <span title={label}>{content}</span>
            <span class="spoken">
              {' '}
              {label}
              {mine && t.includingYours}
            </span>
          </ActButton>
        ) : (
          <span class="badge" title={label} key={name}>
            {content}
          </span>
        )
      })}
      {mayComment && (
        <details class="react" onSubmit={fold}>
          <summary aria-label={t.addReaction} title={t.addReaction}>
            ☺
          </summary>
          <Form action="react" id={`react-${on ?? 'all'}`} class="row">
            <input type="hidden" name="note_id" value={to.note_id} />
            {OFFERED.filter((name) => !groups.some(([given]) => PICTURES[given] === PICTURES[name])).map((name) => (
              <Button name="name" value={name} label={name} kind="plain" key={name}>
                {PICTURES[name]}
              </Button>
            ))}
          </Form>
        </details>
      )}
    </div>
  )
}
