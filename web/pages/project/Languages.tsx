/** The languages of a project by percentage. Colours follow the order, so that neighbours differ. */
import * as common from '../../texts/common.ts'
import * as t from '../../texts/projects.ts'
import './Languages.css'

const MOST = 6

export function Languages({ of }: { of: Record<string, number> }) {
  const all = Object.entries(of)
  if (all.length === 0) return null
  const shown = all.slice(0, MOST)
  const rest = all.slice(MOST).reduce((sum, [, share]) => sum + share, 0)
  const parts = rest > 0 ? [...shown, [common.other, rest] as const] : shown
  let at = 0
  return (
    <div class="languages">
      <svg viewBox="0 0 100 1" preserveAspectRatio="none" width="100%" height="6" aria-hidden="true">
        {parts.map(([name, share], n) => {
          const x = at
          at += share
          return <rect key={name} data-part={n} x={x} y="0" width={share} height="1" />
        })}
      </svg>
      <ul class="facts" aria-label={t.languages}>
        {parts.map(([name, share], n) => (
          <li key={name}>
            <svg viewBox="0 0 10 10" width="10" height="10" aria-hidden="true">
              <circle data-part={n} cx="5" cy="5" r="5" />
            </svg>{' '}
            {name} <span class="quiet">{share.toFixed(1)} %</span>
          </li>
        ))}
      </ul>
    </div>
  )
}
