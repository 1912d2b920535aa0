import { membersPage } from '../../components/members/page.tsx'

export const page = membersPage('group')
