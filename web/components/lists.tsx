/** Compact lists: state, title and labels on one line, details below. */
import type { ComponentChildren } from 'preact'
import { withQuery } from '../query.ts'
import type { Listed } from '../api.ts'
import { useSurroundings } from '../surroundings.ts'
import * as t from '../texts/common.ts'

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  )
}

interface RowProps {
  lead?: ComponentChildren
  title: ComponentChildren
  facts?: ComponentChildren
  aside?: ComponentChildren
  id?: string
}

export const Row = ({ lead, title, facts, aside, id }: RowProps) => (
  <li class="item" id={id}>
    {lead && <span class="item-lead">{lead}</span>}
    <div class="item-body">
      <div class="item-title">{title}</div>
      {facts && <div class="item-facts">{facts}</div>}
    </div>
    {aside && <div class="item-aside">{aside}</div>}
  </li>
)

export const Rows = ({ children, label }: { children: ComponentChildren; label: string }) => (
  <ul class="items" aria-label={label}>
    {children}
  </ul>
)

/** Links to the previous and next page; nothing if there is only one page. */
export function Pages({ of }: { of: Listed<unknown> }) {
  const { address } = useSurroundings()
  if (of.next === null && of.previous === null) return null
  const to = (page: number) => withQuery(address, { page })
  return (
    <nav class="pages" aria-label={t.pages}>
      {of.previous !== null ? (
        <a class="button" rel="prev" href={to(of.previous)}>
          {t.previous}
        </a>
      ) : (
        <span />
      )}
      <span class="quiet">
        {t.pageNumber(of.page)}
        {of.pages !== null && t.ofPages(of.pages)}
      </span>
      {of.next !== null ? (
        <a class="button" rel="next" href={to(of.next)}>
          {t.next}
        </a>
      ) : (
        <span />
      )}
    </nav>
  )
}

export interface Tab {
  readonly href: string
  readonly text: string
  readonly count?: number | null | undefined
  readonly isCurrent: boolean
}

export const Tabs = ({ tabs, label }: { tabs: readonly Tab[]; label: string }) => (
  <nav class="tabs" aria-label={label}>
    {tabs.map(({ href, text, count, isCurrent }) => (
      <a href={href} aria-current={isCurrent ? 'page' : undefined} key={href}>
        {text}
        {count !== undefined && count !== null && <span class="count">{count}</span>}
      </a>
    ))}
  </nav>
)
