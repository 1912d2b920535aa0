/** Parts of settings pages. */
import type { ComponentChildren } from 'preact'
import { useSurroundings } from '../surroundings.ts'
import { Copyable } from './CloneBox.tsx'
import { Choice, Tick } from './Form.tsx'
import { Icon } from './Icon.tsx'
import * as t from '../texts/common.ts'
import './settings.css'

export interface NavLink {
  readonly href: string
  readonly text: string
}

/** Sections at the side, with the chosen one next to them. */
export function SettingsColumns({
  links,
  label,
  children,
}: {
  links: readonly NavLink[]
  label: string
  children: ComponentChildren
}) {
  const path = useSurroundings().address.split('?', 1)[0]!
  const current = links
    .filter(({ href }) => path === href || path.startsWith(`${href}/`))
    .toSorted((one, other) => other.href.length - one.href.length)[0]
  return (
    <div class="beside">
      <nav class="sections" aria-label={label}>
        {links.map((link) => (
          <a href={link.href} aria-current={link === current ? 'page' : undefined} key={link.href}>
            {link.text}
          </a>
        ))}
      </nav>
      <div class="beside-main">{children}</div>
    </div>
  )
}

/** A section of a page. */
export function Chapter({
  title,
  hint,
  children,
  id,
}: {
  title: string
  hint?: string
  children: ComponentChildren
  id?: string
}) {
  return (
    <section class="chapter" id={id}>
      <h2>{title}</h2>
      {hint && <p class="quiet">{hint}</p>}
      {children}
    </section>
  )
}

/** A form that is collapsed until it is opened or returned with an error. */
export function Fold({ title, children, action }: { title: string; children: ComponentChildren; action?: string }) {
  const { returned } = useSurroundings()
  return (
    <details class="fold" open={returned !== null && returned.action === action}>
      <summary>
        <Icon name="plus" /> {title}
      </summary>
      <div class="fold-body">{children}</div>
    </details>
  )
}

/** A new secret, which is shown only once. */
export function Secret({ name, label }: { name: string; label: string }) {
  const secret = useSurroundings().flash[name]
  if (secret === undefined) return null
  return (
    <div class="fresh" role="status">
      <p>
        <strong>{t.copyThisValueNow}</strong>
      </p>
      <Copyable label={label} text={secret} />
    </div>
  )
}

/** The message of the previous action. */
export function Notice({ name = 'notice' }: { name?: string }) {
  const notice = useSurroundings().flash[name]
  return notice === undefined ? null : (
    <p class="fresh" role="status">
      {notice}
    </p>
  )
}

/** Checkboxes for several of a few values. */
export function Boxes({
  name,
  label,
  options,
  values = [],
}: {
  name: string
  label: string
  options: readonly (readonly [value: string, text: string])[]
  values?: readonly string[]
}) {
  return (
    <fieldset class="boxes">
      <legend>{label}</legend>
      {options.map(([value, text]) => (
        <label class="switch" key={value}>
          <Tick name={`${name}[]`} value={value} isOn={values.includes(value)} />
          <span>{text}</span>
        </label>
      ))}
    </fieldset>
  )
}

/** Facts by name, one below the other. */
export const Facts = ({ of }: { of: readonly (readonly [name: string, value: ComponentChildren])[] }) => (
  <dl class="fact-list">
    {of.map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
)

/** A search field for a list; the URL keeps the text. */
export function Finder({
  label,
  children,
  name = 'search',
}: {
  label: string
  children?: ComponentChildren
  name?: string
}) {
  const { query, address } = useSurroundings()
  return (
    <form class="finder" role="search" action={address.split('?', 1)[0]!} aria-label={label}>
      <input type="search" name={name} placeholder={label} aria-label={label} defaultValue={query.get(name) ?? ''} />
      {children}
      <button class="button">{t.search}</button>
    </form>
  )
}

export const SortChoice = ({ options }: { options: readonly (readonly [value: string, text: string])[] }) => (
  <Choice name="sort" label={t.sortBy} isQuiet options={options} value={useSurroundings().query.get('sort')} />
)
