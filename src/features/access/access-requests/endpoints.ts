import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { blankable, int } from '../../../api/wire.ts'
import type { App } from '../../../context.ts'
import { Developer, NoAccess } from '../../../lib/levels.ts'
import type { Row } from '../../../store/database.ts'
import { surroundings } from '../../identity/users/queries.ts'
import { presentOneMember } from '../members/endpoints.ts'
import { MemberEntity } from '../members/entity.ts'
import { approveRequest } from '../members/service.ts'
import { ofPerson, type SourceScope, type SourceSubject } from '../scopes.ts'
import { AccessRequesterEntity, presentRequester } from './entity.ts'
import { findRequest, listRequests, loadRequests } from './queries.ts'
import { endRequest, requestAccess } from './service.ts'

async function present(app: App, requests: readonly Row<'access_requests'>[]) {
  const loaded = await loadRequests(app.db, requests)
  const around = await surroundings(app)
  return loaded.map((one) => presentRequester(one, around))
}

/** A user who already has access, directly or by inheritance, cannot request access. */
const mayRequest = ({ level, requestable }: SourceSubject) => level <= NoAccess && requestable

export function accessRequestEndpoints(scope: SourceScope) {
  const { kind, resource } = scope
  const path = `${scope.path}/access_requests` as const
  const requestable = { ...resource, policy: { ...resource.policy, request: mayRequest } }
  const request = ofPerson(scope, findRequest, { secret: true })

  return {
    list: endpoint({
      method: 'GET',
      path,
      summary: `List who asks to be let into a ${kind}`,
      on: resource,
      allow: 'manage',
      output: pageOf(AccessRequesterEntity),
      async handle({ app, subject, page }) {
        const { items, total } = await listRequests(app.db, subject.at, page)
        return { total, items: await present(app, items) }
      },
    }),

    create: endpoint({
      method: 'POST',
      path,
      summary: `Request access to a ${kind}`,
      on: requestable,
      allow: 'request',
      output: AccessRequesterEntity,
      async handle({ app, viewer, subject }) {
        const [requester] = await present(app, [await requestAccess(app, subject, viewer)])
        return requester!
      },
    }),

    approve: endpoint({
      method: 'PUT',
      path: `${path}/:user_id/approve`,
      summary: `Approve an access request for a ${kind}`,
      on: request,
      allow: 'manage',
      input: z.object({ access_level: blankable(int) }),
      output: MemberEntity,
      status: 201,
      async handle({ app, viewer, subject, input }) {
        const grant = { access_level: input.access_level ?? Developer }
        const member = await approveRequest(app, subject.at, subject.record.user_id, grant, viewer.id)
        return presentOneMember(app, member)
      },
    }),

    destroy: endpoint({
      method: 'DELETE',
      path: `${path}/:user_id`,
      summary: `Deny or withdraw an access request for a ${kind}`,
      on: request,
      allow: 'giveUp',
      changedAt: ({ record }) => record.requested_at,
      output: null,
      handle: ({ app, viewer, subject }) => endRequest(app, subject.record, viewer),
    }),
  }
}
