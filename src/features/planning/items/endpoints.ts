/** Endpoints of participants and subscriptions, for every kind of item. */
import type { z } from 'zod'
import { endpoint, type Policy, type Resource } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import type { App, User } from '../../../context.ts'
import { UserSummaryEntity } from '../../identity/users/entity.ts'
import { presentSummaries } from '../../identity/users/load.ts'
import { setSubscription } from '../subscriptions/service.ts'
import { columnsOfItem, type ItemKind, type ItemRow } from './kind.ts'
import { isParticipant, listParticipants } from './participants.ts'

interface Scope<S, P extends Policy<S>, R extends object> {
  kind: ItemKind
  path: `/${string}`
  on: Resource<S, P>
  of(subject: S): ItemRow
  reading: keyof P & string
  by: 'user' | 'visitor'
  /** The ability to subscribe, and the status of the answer. */
  subscribing: keyof P & string
  status: 200 | 201
  output: z.ZodType<R>
  present(app: App, viewer: User, subject: S): Promise<R>
}

export function participationOn<S, P extends Policy<S>, R extends object>(scope: Scope<S, P, R>) {
  const { kind, path, on, of, output, status } = scope
  const subscribing = (shouldSubscribe: boolean) =>
    endpoint({
      method: 'POST',
      path: `${path}/${shouldSubscribe ? 'subscribe' : 'unsubscribe'}`,
      summary: `Be told ${shouldSubscribe ? '' : 'no more '}what happens to ${kind.one}`,
      on,
      allow: scope.subscribing,
      status,
      output,
      async handle({ app, viewer, subject }) {
        const item = of(subject)
        const usual = await isParticipant(app.db, kind, item, viewer.id)
        await setSubscription(app, viewer, columnsOfItem(kind, item.id), shouldSubscribe, { usual })
        return scope.present(app, viewer, subject)
      },
    })
  return {
    subscribe: subscribing(true),
    unsubscribe: subscribing(false),

    participants: endpoint({
      method: 'GET',
      path: `${path}/participants`,
      summary: `List who takes part in ${kind.one}`,
      on,
      allow: scope.reading,
      by: scope.by,
      output: pageOf(UserSummaryEntity),
      async handle({ app, subject, page }) {
        const { items, total } = await listParticipants(app.db, kind, of(subject), page)
        return { total, items: await presentSummaries(app, items) }
      },
    }),
  }
}
