"""Deploys a contract and has it verified, as a user of titanoboa does; prints its address last."""

import os

import boa
from boa.verifiers import Blockscout
from eth_account import Account

boa.set_network_env(os.environ["RPC_URL"])
boa.env.add_account(Account.from_key(os.environ["PRIVATE_KEY"]))
contract = boa.load("Shelf.vy", 9)
boa.verify(contract, Blockscout(os.environ["EXPLORER_URL"]), wait=True)
print(contract.address)
