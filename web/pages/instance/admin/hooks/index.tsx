import { hookListPage } from '../../../../components/hooks/list.tsx'

export const page = hookListPage('instance')
