/** An avatar, or the initial: no external service is asked. */
import * as t from '../texts/common.ts'

interface Someone {
  readonly name: string
  readonly avatar_url?: string | null | undefined
}

const OWN = /^(https?:\/\/[^/]+)?\/uploads\//

export function Avatar({ of, size = 24 }: { of: Someone; size?: 16 | 24 | 32 | 48 | 96 }) {
  const own = of.avatar_url && OWN.test(of.avatar_url) ? of.avatar_url.replace(/^https?:\/\/[^/]+/, '') : null
  if (own) return <img class="avatar" src={own} width={size} height={size} alt="" loading="lazy" />
  const [first = '?', ...letters] = Array.from(of.name)
  const hue = letters.reduce((sum, letter) => sum + letter.codePointAt(0)!, 0) % 6
  return (
    <svg class="avatar" data-hue={hue} width={size} height={size} viewBox="0 0 24 24" aria-hidden="true">
      <rect width="24" height="24" />
      <text x="12" y="16.5" text-anchor="middle">
        {first.toUpperCase()}
      </text>
    </svg>
  )
}

interface User extends Someone {
  readonly username: string
  readonly web_url: string
}

/** The name of a user, with a link to the profile. */
export const Person = ({ of, isShort = false }: { of: User | null; isShort?: boolean }) =>
  of ? (
    <a class="person" href={`/${of.username}`}>
      <Avatar of={of} size={16} /> {isShort ? of.username : of.name}
    </a>
  ) : (
    <span class="quiet">{t.deletedUser}</span>
  )
