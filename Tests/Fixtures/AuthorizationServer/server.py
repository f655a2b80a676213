import base64, json, secrets, sys, time, logging
import os; os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"
from flask import Flask, request, redirect, Response
from werkzeug.serving import make_server, WSGIRequestHandler
from joserfc import jws, jwk
from authlib.integrations.flask_oauth2 import AuthorizationServer
from authlib.oauth2.rfc6749 import grants
from authlib.oauth2.rfc6749.models import ClientMixin, AuthorizationCodeMixin, TokenMixin
from authlib.oauth2.rfc7009 import RevocationEndpoint
from authlib.oauth2.rfc7523 import JWTBearerClientAssertion
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oauth2.rfc8628 import DeviceAuthorizationEndpoint, DeviceCodeGrant, DEVICE_CODE_GRANT_TYPE
logging.disable(logging.CRITICAL)
SECRET = "s:cr=t+of at least 32 octets, here"
KEY = jwk.ECKey.generate_key("P-256")
class Client(ClientMixin):
    def __init__(self, id, method): self.client_id, self.method = id, method
    def get_client_id(self): return self.client_id
    def get_default_redirect_uri(self): return None
    def get_allowed_scope(self, scope): return " ".join(s for s in (scope or "").split() if s in ("read", "write"))
    def check_redirect_uri(self, uri): return uri in ("com.example.shop:/signed-in",) or uri.startswith("http://127.0.0.1:")
    def check_client_secret(self, secret): return secret == SECRET
    def check_endpoint_auth_method(self, method, endpoint): return method == self.method
    def check_response_type(self, kind): return kind == "code"
    def check_grant_type(self, kind): return True
CLIENTS = {c.client_id: c for c in (
    Client("public", "none"), Client("ba:sic", "client_secret_basic"), Client("post", "client_secret_post"),
    Client("jwt", "client_assertion_jwt"), Client("hmac", "client_assertion_jwt"))}
class User:
    def __init__(self, name="anna"): self.name = name
    def get_user_id(self): return self.name
class Code(AuthorizationCodeMixin):
    def __init__(self, **values): self.__dict__.update(values)
    def get_redirect_uri(self): return self.redirect_uri
    def get_scope(self): return self.scope
class Token(TokenMixin):
    def __init__(self, **values): self.__dict__.update(values); self.revoked = self.spent = False
    def check_client(self, client): return client.client_id == self.client_id
    def get_scope(self): return self.token.get("scope", "")
    def get_expires_in(self): return 3600
    def is_expired(self): return False
    def is_revoked(self): return self.revoked
    def get_user(self): return User(self.user)
    def get_client(self): return CLIENTS[self.client_id]
CODES, USED, TOKENS, DEVICES, REUSED = {}, {}, [], {}, []
def save_token(token, req):
    user = req.user.get_user_id() if req.user else ""
    TOKENS.append(Token(client_id=req.client.client_id, token=token, user=user))
METHODS = ["none", "client_secret_basic", "client_secret_post", "client_assertion_jwt"]
class CodeGrant(grants.AuthorizationCodeGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = METHODS
    def save_authorization_code(self, code, req):
        data = req.payload.data
        CODES[code] = Code(code=code, client_id=req.client.client_id, redirect_uri=req.payload.redirect_uri, scope=req.payload.scope,
            user=req.user.get_user_id(), code_challenge=data.get("code_challenge"), code_challenge_method=data.get("code_challenge_method"))
    def query_authorization_code(self, code, client):
        if code in USED: REUSED.append(USED[code])
        found = CODES.get(code)
        return found if found and found.client_id == client.client_id else None
    def delete_authorization_code(self, code): USED[code.code] = code.user; del CODES[code.code]
    def authenticate_user(self, code): return User(code.user)
class StrictChallenge(CodeChallenge):
    SUPPORTED_CODE_CHALLENGE_METHOD = ["S256"]
class RefreshGrant(grants.RefreshTokenGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = METHODS
    INCLUDE_NEW_REFRESH_TOKEN = True
    def authenticate_refresh_token(self, text):
        for t in reversed(TOKENS):
            if t.token.get("refresh_token") == text:
                if t.spent: REUSED.append(t.user)
                return None if t.revoked or t.spent else t
    def authenticate_user(self, token): return User(token.user)
    def revoke_old_credential(self, token): token.spent = token.revoked = True
class AppGrant(grants.ClientCredentialsGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = METHODS
class Device(DeviceAuthorizationEndpoint):
    CLIENT_AUTH_METHODS = METHODS
    def get_verification_uri(self): return BASE + "device"
    def save_device_credential(self, client_id, scope, data):
        DEVICES[data["device_code"]] = dict(data, client_id=client_id, scope=scope, polls=0, user="anna")
class Credential(dict):
    def get_client_id(self): return self["client_id"]
    def get_scope(self): return self["scope"]
    def get_user_code(self): return self["user_code"]
    def is_expired(self): return False
class DeviceGrant(DeviceCodeGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = METHODS
    def query_device_credential(self, code): return Credential(DEVICES[code]) if code in DEVICES else None
    def query_user_grant(self, user_code):
        for d in list(DEVICES.values()):  # Other tests add theirs meanwhile.
            if d["user_code"] == user_code:
                d["polls"] += 1
                return (User(d["user"]), d["user"] != "nobody") if d["polls"] > 2 else None
    def should_slow_down(self, credential): return DEVICES[credential["device_code"]]["polls"] == 2
    def create_token_response(self):
        response = super().create_token_response()
        DEVICES.pop(self.request.payload.data.get("device_code"), None)  # A device code is for one token.
        return response
class Revocation(RevocationEndpoint):
    CLIENT_AUTH_METHODS = METHODS
    def query_token(self, text, hint):
        for t in reversed(TOKENS):
            if text in (t.token.get("refresh_token"), t.token.get("access_token")): return t
    def revoke_token(self, token, req): token.revoked = True
class Assertion(JWTBearerClientAssertion):
    CLIENT_AUTH_METHOD = "client_assertion_jwt"
    used = set()
    def get_audiences(self): return [BASE.rstrip("/")]
    def validate_jti(self, claims, jti):
        if jti in self.used: return False
        self.used.add(jti); return True
    def resolve_client_public_key(self, client):
        return KEY if client.client_id == "jwt" else jwk.OctKey.import_key(SECRET)
    def authenticate_client(self, client): return client
app = Flask("authlib")
app.config["OAUTH2_REFRESH_TOKEN_GENERATOR"] = True
server = AuthorizationServer(app, query_client=CLIENTS.get, save_token=save_token)
server.register_client_auth_method("client_assertion_jwt", Assertion())
server.register_grant(CodeGrant, [StrictChallenge(required=True)])
for grant in (RefreshGrant, AppGrant, DeviceGrant): server.register_grant(grant)
server.register_endpoint(Device); server.register_endpoint(Revocation)
JTIS = set()
def check_proof(token):
    "The rules of RFC 9449 section 4.3; returns the word of the broken one."
    proofs = request.headers.getlist("DPoP")
    if len(proofs) != 1: return "invalid_dpop_proof"
    obj = jws.extract_compact(proofs[0].encode())
    head = obj.headers()
    if head.get("typ") != "dpop+jwt" or head.get("alg") != "ES256" or "d" in head["jwk"]: return "invalid_dpop_proof"
    key = jwk.ECKey.import_key(head["jwk"])
    claims = json.loads(jws.deserialize_compact(proofs[0], key, ["ES256"]).payload)
    if claims["htm"] != request.method or claims["htu"] != request.base_url: return "invalid_dpop_proof"
    if abs(claims["iat"] - time.time()) > 60 or claims["jti"] in JTIS: return "invalid_dpop_proof"
    JTIS.add(claims["jti"])
    if token is not None:
        import hashlib
        wanted = base64.urlsafe_b64encode(hashlib.sha256(token.encode()).digest()).rstrip(b"=").decode()
        if claims.get("ath") != wanted: return "invalid_dpop_proof"
    request.thumbprint = key.thumbprint()
    if claims.get("nonce") != nonce(): return "use_dpop_nonce"
NONCES = {}
def nonce():
    "The nonce that a proof with the request's key must have; other keys have their own."
    return NONCES.setdefault(getattr(request, "thumbprint", ""), "nonce-0")
@app.get("/.well-known/oauth-authorization-server")
def metadata():
    root = BASE.rstrip("/")
    return {"issuer": root, "authorization_endpoint": BASE + "authorize", "token_endpoint": BASE + "token",
        "revocation_endpoint": BASE + "revoke", "device_authorization_endpoint": BASE + "device",
        "code_challenge_methods_supported": ["S256"]}
@app.get("/authorize")
def authorize():
    try:
        grant = server.get_consent_grant(end_user=User())
    except Exception as error:
        return server.handle_error_response(request, error) if hasattr(error, "error") else (str(error), 400)
    name = request.args.get("login_hint", "anna")
    return server.create_authorization_response(grant_user=User(name) if name != "nobody" else None, grant=grant)
@app.post("/token")
def token():
    if request.headers.get("DPoP"):
        problem = check_proof(None)
        if problem: return {"error": problem}, 400, {"DPoP-Nonce": nonce()}
        response = server.create_token_response()
        if response.status_code == 200:
            members = json.loads(response.data)
            members["token_type"] = "DPoP"
            BOUND[members["access_token"]] = request.thumbprint
            NONCES[request.thumbprint] = "nonce-" + secrets.token_hex(4)
            return members, 200, {"DPoP-Nonce": nonce()}
        return response
    return server.create_token_response()
BOUND = {}
@app.post("/revoke")
def revoke(): return server.create_endpoint_response("revocation")
@app.post("/device")
def device(): return server.create_endpoint_response("device_authorization")
@app.post("/decide")
def decide():
    "The user of a device code decides."
    for d in list(DEVICES.values()):  # Other tests add theirs meanwhile.
        if d["user_code"] == request.form["user_code"]: d["user"] = request.form["user"]
    return ""
@app.post("/live")
def live():
    "Whether a token or refresh token is of use."
    texts = request.form.getlist("token")
    live = (t for t in reversed(TOKENS) if not t.revoked)
    return str(any(t.token["access_token"] in texts or t.token.get("refresh_token") in texts for t in live))
@app.get("/orders")
def orders(): return guarded(lambda token: "fine")
@app.get("/me")
def me(): return guarded(lambda token: token.user)
def guarded(respond):
    scheme, _, text = (request.headers.get("Authorization") or "").partition(" ")
    live = next((t for t in reversed(TOKENS) if t.token["access_token"] == text and not t.revoked), None)
    if scheme == "DPoP":
        problem = check_proof(text)
        if problem: return "", 401, {"WWW-Authenticate": f'DPoP error="{problem}"', "DPoP-Nonce": nonce()}
        if BOUND.get(text) != request.thumbprint: live = None
    elif text in BOUND: live = None
    return (respond(live), 200) if live else ("", 401, {"WWW-Authenticate": f'{scheme or "Bearer"} error="invalid_token"'})
@app.post("/expire")
def expire():
    "Makes the access tokens of a group of users of no use; refresh tokens stay."
    for t in TOKENS:
        if t.revoked or not t.user.endswith(request.form["group"]): continue
        BOUND.pop(t.token["access_token"], None)
        t.token["access_token"] = secrets.token_hex(8)
    return ""
@app.get("/reused")
def reused(): return str(sum(user.endswith(request.args["group"]) for user in REUSED))
@app.post("/sign")
def sign():
    from cryptography.hazmat.primitives.asymmetric import ec, utils
    from cryptography.hazmat.primitives import hashes
    r, s = utils.decode_dss_signature(private_key().private_key.sign(request.get_data(), ec.ECDSA(hashes.SHA256())))
    return r.to_bytes(32, "big") + s.to_bytes(32, "big")
@app.get("/key")
def key(): return private_key().as_dict(private=False)
KEYS = {}
def private_key():
    "The key of a group of users for proofs, or without a group that of the client with assertions."
    group = request.args.get("group")
    if not group: return KEY
    return KEYS.get(group) or KEYS.setdefault(group, jwk.ECKey.generate_key("P-256"))
WSGIRequestHandler.protocol_version, WSGIRequestHandler.wbufsize = "HTTP/1.1", 8192  # One packet for a response.
http = make_server("127.0.0.1", 0, app, threaded=True)
BASE = f"http://127.0.0.1:{http.server_port}/"
app.config["SERVER_NAME"] = None
print(http.server_port, flush=True)
import threading
threading.Thread(target=http.serve_forever, daemon=True).start()
sys.stdin.read()
