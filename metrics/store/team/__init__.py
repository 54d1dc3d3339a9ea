"""Several people on one studio: who may sign in, with which role and group, and the log of what they did."""

from metrics.store.team.audit_log import AuditLog as AuditLog
from metrics.store.team.audit_log import Outcome as Outcome
from metrics.store.team.team_file import Role as Role
from metrics.store.team.team_file import Team as Team
from metrics.store.team.team_file import read_team as read_team
from metrics.store.team.team_file import team_of as team_of
from metrics.store.team.visitors import NotAllowed as NotAllowed
from metrics.store.team.visitors import Visitor as Visitor
from metrics.store.team.visitors import folder_of as folder_of
from metrics.store.team.visitors import visitor_of as visitor_of
